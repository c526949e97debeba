// SPDX-License-Identifier: Apache-2.0
// Draws the document, which is the payload's JSON. All text goes in as text,
// never as markup.

let data; // the document
let weight; // name of the count that shares are of
let whole; // that count of all
const listing = $('listing');
let shown = -1; // index of the function
let asCode = false; // instructions instead of lines
let rows = []; // rows that can be walked to
let at = -1; // the one that was walked to
let wantedLine = ''; // "file:line" of the hash

const remark = (className, textContent) =>
  make('div', {className, textContent});

const percent = (part, of) => (of > 0 ? (100 * part) / of : 0);
const percentText = (part, of) =>
  part > 0 ? percent(part, of).toFixed(2) + '%' : '';

// A row: its share, a number, text; the hotter, the redder.
function row(kind, item, of, number, text) {
  const share = percent(item[weight], of);
  const element = make(
    'div',
    {className: 'row ' + kind},
    make('b', percentText(item[weight], of)),
    make('i', number),
    make('span', text),
  );
  if (share > 0) {
    const heat = Math.min(0.08 + share / 60, 0.5);
    element.classList.add('hot');
    element.style.setProperty('--part', heat.toFixed(3));
    element.title =
      `${item.self} samples, ` + `${percentText(item[weight], whole)} of all`;
  }
  element.heat = share;
  return element;
}

function inlinedText(names) {
  const em = make('em', names.join(' in '));
  return make('div', {className: 'from'}, 'inlined ', em);
}

function codeRow(item, of) {
  return row('asm', item, of, item.address.slice(2), item.text);
}

// What to show instead of a line of a file that could not be read.
const lineText = (line) => (line.text === null ? '' : line.text);
const baseName = (path) => path.slice(path.lastIndexOf('/') + 1);

function toggle(element, open) {
  const code = element.code;
  const isOpen = element.getAttribute('aria-expanded') === 'true';
  if (!code || open === isOpen) return;
  element.setAttribute('aria-expanded', String(!isOpen));
  if (isOpen) {
    while (element.nextSibling?.under) element.nextSibling.remove();
    return;
  }
  const fragment = document.createDocumentFragment();
  let inlined = '';
  for (const item of code) {
    const names = item.inlined || [];
    if (names.length && names.join() !== inlined)
      fragment.append(inlinedText(names));
    inlined = names.join();
    fragment.append(codeRow(item, element.of));
  }
  for (const child of fragment.children) {
    child.under = true;
    child.classList.add('under');
  }
  element.after(fragment);
}

function drawLines(f) {
  const code = new Map();
  let before = null;
  for (const item of f.instructions) {
    const key = item.file + ':' + item.line;
    if (!code.has(key)) code.set(key, []);
    code.get(key).push(item);
  }
  for (const line of f.lines) {
    const key = line.file + ':' + line.line;
    if (!before || before.file !== line.file)
      listing.append(remark('path', line.file || 'source line unknown'));
    else if (before.line + 1 < line.line)
      listing.append(remark('gap', '\u22ef'));
    before = line;
    const element = row(
      'line',
      line,
      f[weight],
      line.line || '',
      lineText(line) ||
        (line.file ? '' : `${code.get(key).length} instructions`),
    );
    element.of = f[weight];
    element.key = key;
    if (line.code) {
      element.code = code.get(key);
      element.dataset.code = '';
      element.tabIndex = 0;
      element.setAttribute('role', 'button');
      element.setAttribute('aria-expanded', 'false');
      rows.push(element);
    }
    listing.append(element);
  }
}

function drawCode(f) {
  const text = new Map();
  for (const line of f.lines)
    text.set(line.file + ':' + line.line, lineText(line));
  let place = '',
    inlined = '';
  for (const item of f.instructions) {
    const key = item.file + ':' + item.line;
    const names = item.inlined || [];
    if (names.join() !== inlined)
      listing.append(
        names.length
          ? inlinedText(names)
          : remark('from', 'back in ' + f.symbol.slice(0, 200)),
      );
    inlined = names.join();
    if (key !== place && item.file)
      listing.append(
        remark('from', `${baseName(item.file)}:${item.line}  ${text.get(key)}`),
      );
    place = key;
    const element = codeRow(item, f[weight]);
    element.key = key;
    element.tabIndex = -1;
    rows.push(element);
    listing.append(element);
  }
}

function remember() {
  const words = new URLSearchParams();
  words.set('f', data.functions[shown].address);
  if (asCode) words.set('v', 'code');
  if (at >= 0) words.set('l', rows[at].key);
  history.replaceState(null, '', '#' + words);
}

function go(to) {
  if (to < 0 || to >= rows.length) return;
  if (at >= 0) rows[at].classList.remove('at');
  at = to;
  rows[at].classList.add('at');
  rows[at].focus({preventScroll: true});
  rows[at].scrollIntoView({block: 'center'});
  remember();
}

const hottestFirst = () =>
  rows
    .map((_, i) => i)
    .filter((i) => rows[i].heat > 0)
    .sort((a, b) => rows[b].heat - rows[a].heat || a - b);

// The hottest row, then the next hottest, round and round.
function goHot(step) {
  const order = hottestFirst();
  const now = order.indexOf(at);
  if (order.length)
    go(order[now < 0 ? 0 : (now + step + order.length) % order.length]);
}

function draw() {
  const f = data.functions[shown];
  rows = [];
  at = -1;
  listing.textContent = '';
  press('lines', !asCode);
  press('code', asCode);
  if (!f) return;
  $('name').textContent = f.symbol;
  $('share').textContent =
    `${percent(f[weight], whole).toFixed(2)} % of all, ` +
    `${countText(f.self)} samples, at ${f.address}`;
  $('graph').hidden = !data.served;
  $('graph').href = 'flame.html#' + new URLSearchParams({v: f.symbol});
  (asCode ? drawCode : drawLines)(f);
  listing.scrollTop = 0;
  const wanted = rows.findIndex((element) => element.key === wantedLine);
  wantedLine = '';
  if (wanted >= 0) go(wanted);
  else if (rows.length)
    rows[hottestFirst()[0] || 0].scrollIntoView({block: 'center'});
  remember();
}

function show(index) {
  if (!data.functions[index]) return;
  shown = index;
  for (const item of $('functions').querySelectorAll('button')) {
    const isShown = item.index === index;
    item.setAttribute('aria-current', String(isShown));
    if (isShown) item.scrollIntoView({block: 'nearest'});
  }
  draw();
}

function listFunctions() {
  const word = $('filter').value.toLowerCase();
  const most = data.functions.length ? data.functions[0][weight] : 1;
  $('functions').textContent = '';
  data.functions.forEach((f, index) => {
    if (!f.symbol.toLowerCase().includes(word)) return;
    const title = f.symbol.slice(0, 1000),
      item = button('', () => show(index), {index, title}),
      bar = make('i', '');
    bar.style.width = percent(f[weight], most) + '%';
    item.append(
      make('b', percent(f[weight], whole).toFixed(2) + '%'),
      make('span', f.symbol),
      bar,
    );
    item.setAttribute('aria-current', String(index === shown));
    $('functions').append(make('li', {}, item));
  });
}

function setView(code) {
  const key = at >= 0 ? rows[at].key : '';
  asCode = code;
  wantedLine = key;
  draw();
}

function toggleSampled(open) {
  for (const row of rows) if (!open || row.heat > 0) toggle(row, open);
}

const keyList = [
  [['j', 'ArrowDown'], 'next line', () => go(at + 1)],
  [['k', 'ArrowUp'], 'previous line', () => go(Math.max(at - 1, 0))],
  [['n'], 'next hottest line', () => goHot(1)],
  [['p'], 'previous hottest line', () => goHot(-1)],
  [
    ['Enter'],
    'show or hide the instructions',
    () => at >= 0 && toggle(rows[at]),
  ],
  [['a'], 'show all sampled instructions', () => toggleSampled(true)],
  [['c'], 'hide all instructions', () => toggleSampled(false)],
  [['i'], 'source lines or instructions', () => setView(!asCode)],
  [[']', 'ArrowRight'], 'next function', () => show(shown + 1)],
  [['[', 'ArrowLeft'], 'previous function', () => show(shown - 1)],
  [['/'], 'filter functions', () => $('filter').focus()],
  [['t'], 'next theme', () => $('theme').click()],
  [['?'], 'show this help', () => showHelp()],
];
const helpTexts = [
  "Percentages are of the function's own samples. A sample belongs to the " +
    'instruction that would have been executed next.',
];

async function read() {
  data = (await readPayload()).head;
  weight = data.weight === 'time' ? 'self_ns' : 'self';
  whole = data[data.weight === 'time' ? 'ns' : 'samples'];
}

function showNotes() {
  const notes = [
    [data.lost, `${countText(data.lost)} samples lost`],
    [data.missed_ticks, `${countText(data.missed_ticks)} ticks missed`],
    [data.stolen_ns, `${(data.stolen_ns / 1e9).toFixed(3)} s stolen`],
    [Number(data.steady), 'The sampling period does not vary'],
  ];
  for (const [amount, text] of notes)
    if (amount > 0) $('notes').append(make('span', text));
}

// Of the function with that address, or name.
function indexOf(wanted) {
  const found = data.functions.findIndex(
    (f) => f.address === wanted || f.symbol === wanted,
  );
  return Math.max(found, 0);
}

function start() {
  const words = new URLSearchParams(location.hash.slice(1));
  document.title = $('title').textContent =
    'Code of ' + baseName(data.trace.replace(/\/+$/, ''));
  $('title').title = data.trace;
  $('facts').textContent = [
    countText(data.samples) + ' samples',
    data.hz + ' Hz',
    data.arch,
  ].join(' \u00b7 ');
  showNotes();
  if (data.served) $('home').href = './';
  if (data.functions_not_shown > 0)
    $('rest').textContent =
      `${data.functions_not_shown} more functions are ` +
      (data.served
        ? 'too cold to be shown here'
        : 'below the limit (--percent-limit)');
  listenToClicks({
    lines: () => setView(false),
    code: () => setView(true),
    next: () => goHot(1),
    ask: showHelp,
  });
  listing.onclick = (event) => {
    const element = event.target.closest('.row');
    const index = rows.indexOf(element);
    if (index < 0) return;
    go(index);
    toggle(element);
  };
  listenToKeys();
  listenToFilter(listFunctions);
  asCode = words.get('v') === 'code';
  wantedLine = words.get('l') || '';
  listFunctions();
  show(indexOf(words.get('f')));
  document.body.dataset.ready = 'yes';
}

read().then(start).catch(showFailure);
