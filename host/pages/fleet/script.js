// SPDX-License-Identifier: Apache-2.0
// The guests of a store, and their time; all text goes in as text.

let oddOnly = false;
let sorted = {key: 'busy', down: true};

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
  ['odd', 'Odd', (guest) => data.odd[guest.guest] ?? '', (by) => by, 'odd'],
];

const isShown = (guest) => !oddOnly || data.odd[guest.guest];
const textsOf = (guest) => [
  ...[nameOf(guest), guest.service, guest.build, guest.labels],
];

function rowOf(guest) {
  const cells = COLUMNS.map((column) => {
    const [cell, raw] = cellOf(guest, column),
      [key] = column;
    if (
      (key === 'lost' && raw > 0.01) ||
      ((key === 'rows' || key === 'odd') && raw)
    )
      cell.classList.add('bad');
    return cell;
  });
  return make('tr', {}, ...cells);
}

function draw() {
  const minutes = data.minutes.filter(
    (minute) => !service || minute.service === service,
  );
  $('chart').replaceChildren(chartOf(data, minutes));
  press('odd', oddOnly);
  drawTable();
  history.replaceState(null, '', '#' + choices({odd: Number(oddOnly)}));
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
    const what =
      loss.what === 'packets'
        ? `packets (${countText(loss.amount)} ticks, among the dropped)`
        : `rows of ${loss.what} ` +
          `(${countText(loss.amount)} ticks, samples or counts)`;
    const text =
      `${countText(loss.rows)} ${what} of ` +
      `${guest ? nameOf(guest) : loss.guest}, by ${loss.host}: ${loss.why}`;
    $('losses').append(make('li', text));
  }
}

async function begin() {
  data = (await readPayload()).head;
  showFacts();
  showChoices();
  oddOnly = recallChoices().get('odd') === '1';
  listenToClicks({odd: toggleOdd, ask: showHelp});
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
