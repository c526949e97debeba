// SPDX-License-Identifier: Apache-2.0
// The guests of one `parasite serve`, now. The page loads itself again every
// few seconds; what was chosen stays in its address. All text goes in as text.

let paused = false;
let sorted = {key: 'rate', down: true};
let timer;

const known = (number, text) =>
  number === undefined ? '\u2013' : text(number);
const allLost = (guest) => guest.all_lost / (guest.all_ticks || 1);
const chosen = () => data.top?.boot;

// [key, title, value, text, class]
const COLUMNS = [
  ['state', 'State', (guest) => guest.state],
  ['service', 'Service', (guest) => guest.service],
  [
    ...['build', 'Build', (guest) => guest.build ?? ''],
    ...[(id) => id.slice(0, 12), 'build'],
  ],
  ['target', 'Guest', (guest) => guest.target],
  ['boot', 'Boot', (guest) => guest.boot, (id) => id.slice(0, 8), 'build'],
  ['hz', 'Hz', (guest) => guest.hz, (hz) => hz.toFixed(0), 'number'],
  ['cpus', 'CPUs', (guest) => guest.cpus, countText, 'number'],
  [
    ...['rate', 'Ticks/s', (guest) => guest.rate],
    ...[(rate) => known(rate, (hz) => hz.toFixed(1)), 'number'],
  ],
  [
    ...['busy', 'Busy', (guest) => guest.busy],
    ...[(part) => known(part, shareText), 'number busy'],
  ],
  [
    ...['lost', 'Lost now', (guest) => guest.lost_share],
    ...[(part) => known(part, shareText), 'number'],
  ],
  ['all', 'Lost in all', allLost, shareText, 'number'],
];

const isShown = () => true;
const textsOf = (guest) => [
  ...[guest.boot, guest.target, guest.service],
  guest.build ?? '',
];

function partOf(guest, column) {
  const [cell, raw] = cellOf(guest, column),
    [key] = column;
  if (key === 'state') cell.className = guest.state;
  if ((key === 'lost' || key === 'all') && raw > 0.01)
    cell.classList.add('bad');
  if (key === 'boot')
    cell.replaceChildren(
      make('a', {
        href: addressOf(guest.boot),
        textContent: cell.textContent,
      }),
    );
  return cell;
}

function rowOf(guest) {
  const row = make('tr', {}, ...COLUMNS.map((each) => partOf(guest, each)));
  row.setAttribute('aria-current', String(guest.boot === chosen()));
  return row;
}

function draw() {
  press('pause', paused);
  drawTable();
  history.replaceState(null, '', '#' + words());
}

// ---- what was chosen

const words = () => choices({paused: Number(paused)});

// That of the page with the functions of (boot), or without, if it has them.
const addressOf = (boot) =>
  (boot === chosen() ? '/' : `/?boot=${encodeURIComponent(boot)}`) +
  '#' +
  words();

function loadAgain() {
  clearTimeout(timer);
  const later = () => {
    // not under somebody's hands
    if ($('help').open || document.activeElement === $('service')) wait();
    else location.reload();
  };
  const wait = () => {
    timer = setTimeout(later, 1000 * data.every);
  };
  if (!paused) wait();
}

function togglePause() {
  paused = !paused;
  draw();
  loadAgain();
}

// ---- what is there once

const keyList = [
  [['/'], 'filter guests', () => $('filter').focus()],
  [['p'], 'stop or go on', togglePause],
  [['s'], 'choose a service', () => $('service').focus()],
  [['t'], 'next theme', () => $('theme').click()],
  [['?'], 'show this help', () => showHelp()],
];
const helpTexts = [
  'Rate, busy and "lost now" are of the last five to ten seconds. Busy is ' +
    'the part of the ticks that came in which a CPU was not idle; lost is ' +
    'the part of those due that never came, or was dropped.',
  'Sending: packets came in the last ten seconds. Silent: none did. Gone: ' +
    'its connection has ended; it may come again.',
  'A boot\u2019s number is a link to the hottest functions of that guest, of ' +
    'the minutes that are not closed yet.',
];

function showFacts() {
  const count = (state) =>
    data.guests.filter((guest) => guest.state === state).length;
  document.title = $('title').textContent = 'Guests now: ' + data.host;
  const rate = data.guests.reduce((sum, {rate = 0}) => sum + rate, 0);
  $('facts').textContent = [
    `${countText(data.guests.length)} guests`,
    `${countText(count('sending'))} sending`,
    `${countText(rate)} ticks/s`,
    `${(data.memory / 1e6).toFixed(1)} of ` +
      `${(data.memory_limit / 1e6).toFixed(0)} MB`,
    new Date(1000 * data.made).toISOString().slice(0, 19).replace('T', ' ') +
      ' UTC',
  ].join(' \u00b7 ');
  const notes = [
    count('silent') && `${countText(count('silent'))} silent`,
    data.refused && `${countText(data.refused)} packets refused`,
    data.lost_rows && `${countText(data.lost_rows)} rows not stored`,
    data.store_problem &&
      `The store does not answer: ${data.store_problem}; ` +
        `${countText(data.spool_batches)} batches wait`,
    data.push_lost && `${countText(data.push_lost)} profiles not pushed`,
    data.push_problem &&
      `Pushing fails: ${data.push_problem}; ` +
        `${(data.push_waiting / 1e6).toFixed(1)} MB wait`,
  ];
  $('notes').append(...notes.filter(Boolean).map((text) => make('span', text)));
}

function showTop() {
  if (!data.top) return;
  const {boot, functions, samples, unknown} = data.top,
    guest = data.guests.find((each) => each.boot === boot);
  $('top').hidden = false;
  $('top-title').textContent =
    `${guest.service} ${boot.slice(0, 8)}: ${countText(samples)} samples ` +
    'of minutes that are open' +
    (unknown ? `, ${countText(unknown)} without a name` : '');
  $('functions').append(
    ...functions.map(({name, samples: own}) => {
      const part = own / samples,
        share = make('span', shareText(part)),
        row = make('li', {title: name}, share, make('b', name));
      row.style.setProperty('--part', `${100 * part}%`);
      return row;
    }),
  );
}

async function begin() {
  data = (await readPayload()).head;
  showFacts();
  showTop();
  showChoices();
  paused = recallChoices().get('paused') === '1';
  listenToClicks({pause: togglePause, ask: showHelp});
  listenToKeys();
  listenToFilter(draw);
  draw();
  loadAgain();
  document.body.dataset.ready = 'yes';
}

begin().catch(showFailure);
