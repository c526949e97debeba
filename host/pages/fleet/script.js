// SPDX-License-Identifier: Apache-2.0
// The table of guests; all text goes in as text.

const ROWS_SHOWN = 1000; // a browser shows no more rows at once swiftly

let data; // the payload's JSON
let service = ''; // '' = all
let oddOnly = false;
let sorted = {key: 'busy', down: true};
let shownRows = ROWS_SHOWN;

const nameOf = (guest) =>
  guest.target ? `${guest.host} ${guest.target}` : `guest ${guest.guest}`;

const ticksPerSecond = ({account, buckets}) =>
  (account.ticks - account.missed) / (buckets * data.bucket);

const stolenOf = ({account, buckets, cpus}) =>
  account.stolen_ns / 1e9 / (buckets * data.bucket * cpus);

const delayText = (ns) => (ns === null ? '\u2013' : secondsText(ns / 1e9));

// [key, title, value, text, class]
const COLUMNS = [
  ['service', 'Service', (guest) => guest.service],
  ['build', 'Build', (guest) => guest.build, (id) => id.slice(0, 12), 'build'],
  ['guest', 'Guest', nameOf],
  ['labels', 'Labels', (guest) => guest.labels],
  ['rate', 'Ticks/s', ticksPerSecond, (hz) => hz.toFixed(1), 'number'],
  ['cpus', 'CPUs', (guest) => guest.cpus, countText, 'number'],
  ['busy', 'Busy', (guest) => guest.busy, percent, 'number busy'],
  ['stolen', 'Stolen', stolenOf, percent, 'number'],
  ['delay', 'p99 late', (g) => g.delay_p99_ns, delayText, 'number'],
  ['lost', 'Lost', (guest) => guest.lost, percent, 'number'],
  ['rows', 'Not stored', (g) => g.not_stored_rows, countText, 'number'],
  ['odd', 'Odd', (guest) => data.odd[guest.guest] ?? ''],
];

const wanted = (guest) => {
  const word = $('filter').value.toLowerCase();
  return (
    (!service || guest.service === service) &&
    (!oddOnly || data.odd[guest.guest]) &&
    [nameOf(guest), guest.service, guest.build, guest.labels].some((text) =>
      text.toLowerCase().includes(word),
    )
  );
};

function compare(a, b) {
  if (typeof a === 'string') return a.localeCompare(b, 'en', {numeric: true});
  return (a ?? -1) - (b ?? -1);
}

function cellOf(guest, [key, , value, text, kind = '']) {
  const cell = make('td', {className: kind}),
    raw = value(guest);
  cell.textContent = text ? text(raw) : raw;
  cell.title = typeof raw === 'string' ? raw : '';
  if (key === 'busy') cell.style.setProperty('--part', `${100 * raw}%`);
  if ((key === 'lost' && raw > 0.01) || (key === 'rows' && raw > 0))
    cell.classList.add('bad');
  if (key === 'odd' && raw) cell.classList.add('bad');
  return cell;
}

function drawTable() {
  const value = COLUMNS.find(([key]) => key === sorted.key)[2],
    sign = sorted.down ? -1 : 1;
  const guests = data.guests
    .filter(wanted)
    .sort(
      (a, b) =>
        sign * compare(value(a), value(b)) || compare(nameOf(a), nameOf(b)),
    );
  $('rows').replaceChildren(
    ...guests
      .slice(0, shownRows)
      .map((guest) =>
        make('tr', {}, ...COLUMNS.map((column) => cellOf(guest, column))),
      ),
  );
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
}

function showMore() {
  shownRows = Infinity;
  drawTable();
}

function draw() {
  const minutes = data.minutes.filter(
    (minute) => !service || minute.service === service,
  );
  $('chart').replaceChildren(chartOf(data, minutes));
  press('odd', oddOnly);
  $('service').value = service;
  drawTable();
  keep();
}

function sortBy(key) {
  const first = key !== 'service' && key !== 'guest' && key !== 'build';
  sorted = {key, down: sorted.key === key ? !sorted.down : first};
  draw();
}

// ---- what was chosen is kept in the address, over a page that loads itself

function keep() {
  const words = new URLSearchParams({
    service,
    odd: Number(oddOnly),
    sort: (sorted.down ? '-' : '') + sorted.key,
    filter: $('filter').value,
  });
  history.replaceState(null, '', '#' + words);
}

function recall() {
  const words = new URLSearchParams(location.hash.slice(1)),
    sort = words.get('sort') ?? '-busy',
    key = sort.replace('-', '');
  if (COLUMNS.some(([each]) => each === key))
    sorted = {key, down: sort.startsWith('-')};
  const known = data.guests.some(
    (guest) => guest.service === words.get('service'),
  );
  service = known ? words.get('service') : '';
  oddOnly = words.get('odd') === '1';
  $('filter').value = words.get('filter') ?? '';
}

// ---- details

function showTip(event) {
  const tip = $('tip'),
    column = event.target.closest('.minute');
  tip.hidden = !column;
  if (!column) return;
  tip.textContent = minuteText(column.sum);
  const {width} = tip.getBoundingClientRect();
  tip.style.left = `${Math.min(event.clientX + 12, innerWidth - width - 8)}px`;
  tip.style.top = `${event.clientY + 14}px`;
}

function toggleOdd() {
  oddOnly = !oddOnly;
  draw();
}

const keyList = [
  [['/'], 'filter guests', () => $('filter').focus()],
  [['o'], 'only odd guests', toggleOdd],
  [['s'], 'choose a service', () => $('service').focus()],
  [['t'], 'next theme', () => $('theme').click()],
  [['?'], 'show this help', () => showHelp()],
];
const helpTexts = [
  'Busy is the part of the ticks that came in which a CPU was not idle; lost ' +
    'is the part of those due that never came, or was dropped on its way.',
  'Odd is how many median absolute deviations a guest is from the median of ' +
    'its service, where that is 5 or more: by its busy share, its mix of ' +
    'stacks, its lost ticks, or the delay of its event loop.',
];

function showFacts() {
  const all = data.service ?? 'all services';
  document.title = $('title').textContent = 'Guests: ' + all;
  const {account} = data;
  const lost = (account.missed + account.dropped) / (account.ticks || 1);
  $('facts').textContent = [
    `${countText(data.guests.length)} guests`,
    `${clockText(data.since, true)} to ${clockText(data.until, true)} UTC`,
    `${countText(account.ticks)} ticks`,
    `${percent(lost)} lost`,
    `written at ${clockText(data.made, true)}`,
  ].join(' \u00b7 ');
  const odd = Object.keys(data.odd).length;
  if (odd) $('notes').append(make('span', `${countText(odd)} odd guests`));
  $('not-stored').hidden = !data.not_stored.length;
  for (const loss of data.not_stored) {
    const guest = data.guests.find((each) => each.guest === loss.guest);
    const text =
      `${countText(loss.rows)} rows of ${loss.what} ` +
      `(${countText(loss.amount)} ticks, samples or counts) of ` +
      `${guest ? nameOf(guest) : loss.guest}, by ${loss.host}: ${loss.why}`;
    $('losses').append(make('li', text));
  }
}

function showChoices() {
  const services = [...new Set(data.guests.map((guest) => guest.service))];
  $('service').append(
    make('option', {value: '', textContent: 'All services'}),
    ...services.map((name) => make('option', {value: name, textContent: name})),
  );
  for (const [key, title, , , kind = ''] of COLUMNS)
    $('columns').append(
      make(
        'th',
        {className: kind.split(' ')[0], key},
        button(title, () => sortBy(key), {title: `Sort by ${title}`}),
      ),
    );
}

async function begin() {
  data = (await readPayload()).head;
  showFacts();
  showChoices();
  recall();
  listenToClicks({odd: toggleOdd, ask: showHelp});
  listen($('service'), {
    change: () => {
      service = $('service').value;
      draw();
    },
  });
  listenToKeys();
  listenToFilter(draw);
  listen($('chart'), {
    pointermove: showTip,
    pointerleave: () => {
      $('tip').hidden = true;
    },
  });
  draw();
  if (data.every) setTimeout(() => location.reload(), 1000 * data.every);
  document.body.dataset.ready = 'yes';
}

begin().catch(showFailure);
