// SPDX-License-Identifier: Apache-2.0
// A table of guests that can be sorted and filtered. A page that has it says
// what is in it: COLUMNS, each [key, title, value, text, class]; sorted;
// rowOf(); isShown(), beside the filter; textsOf(), what the filter looks at,
// the first of them breaking ties; and draw().

const ROWS_SHOWN = 1000; // a browser shows no more rows at once swiftly

let data; // the payload's JSON
let service = ''; // '' = all
let shownRows = ROWS_SHOWN;

function compare(a, b) {
  if (typeof a === 'string') return a.localeCompare(b, 'en', {numeric: true});
  return (a ?? -1) - (b ?? -1);
}

function wanted(guest) {
  const word = $('filter').value.toLowerCase();
  return (
    (!service || guest.service === service) &&
    isShown(guest) &&
    textsOf(guest).some((text) => text.toLowerCase().includes(word))
  );
}

function cellOf(guest, [key, , value, text, kind = '']) {
  const cell = make('td', {className: kind}),
    raw = value(guest);
  cell.textContent = text ? text(raw) : raw;
  cell.title = typeof raw === 'string' ? raw : '';
  if (key === 'busy') cell.style.setProperty('--part', `${100 * (raw ?? 0)}%`);
  return [cell, raw];
}

function drawTable() {
  const value = COLUMNS.find(([key]) => key === sorted.key)[2],
    sign = sorted.down ? -1 : 1;
  const guests = data.guests
    .filter(wanted)
    .sort(
      (a, b) =>
        sign * compare(value(a), value(b)) ||
        compare(textsOf(a)[0], textsOf(b)[0]),
    );
  $('rows').replaceChildren(...guests.slice(0, shownRows).map(rowOf));
  const rest = guests.length - Math.min(guests.length, shownRows);
  $('more').replaceChildren(
    `${countText(guests.length)} of ${countText(data.guests.length)} guests `,
    ...(rest ? [button(`Show ${countText(rest)} more`, showMore)] : []),
  );
  for (const head of $('columns').children)
    head.setAttribute(
      'aria-sort',
      head.key !== sorted.key
        ? 'none'
        : sorted.down
          ? 'descending'
          : 'ascending',
    );
  $('service').value = service;
}

function showMore() {
  shownRows = Infinity;
  drawTable();
}

// Numbers begin with the largest, texts with the first.
function sortBy([key, , , , kind = 'text']) {
  const down = kind !== 'text' && kind !== 'build';
  sorted = {key, down: sorted.key === key ? !sorted.down : down};
  draw();
}

function showChoices() {
  const services = [...new Set(data.guests.map((guest) => guest.service))];
  $('service').append(
    make('option', {value: '', textContent: 'All services'}),
    ...services.map((name) => make('option', {value: name, textContent: name})),
  );
  for (const column of COLUMNS) {
    const [key, title, , , kind = ''] = column;
    $('columns').append(
      make(
        'th',
        {className: kind.split(' ')[0], key},
        button(title, () => sortBy(column), {title: `Sort by ${title}`}),
      ),
    );
  }
  listen($('service'), {
    change: () => {
      service = $('service').value;
      $('service').blur();
      draw();
    },
  });
}

// ---- what was chosen is kept in the address, over a page that loads itself

const choices = (more) =>
  new URLSearchParams({
    service,
    ...more,
    sort: (sorted.down ? '-' : '') + sorted.key,
    filter: $('filter').value,
  });

// Sets what is the table's, and returns all.
function recallChoices() {
  const kept = new URLSearchParams(location.hash.slice(1)),
    sort = kept.get('sort') ?? '',
    key = sort.replace('-', '');
  if (COLUMNS.some(([each]) => each === key))
    sorted = {key, down: sort.startsWith('-')};
  if (data.guests.some((guest) => guest.service === kept.get('service')))
    service = kept.get('service');
  $('filter').value = kept.get('filter') ?? '';
  return kept;
}
