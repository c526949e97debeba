// SPDX-License-Identifier: Apache-2.0
// A card of each target, the steepest first; all text goes in as text.

let data; // the payload's JSON
let point = 0; // which of data.points is shown
let ownScales = false;
let cards = []; // elements with (curve) and (dots)
let at = -1; // the card that was walked to
let dotAt = -1; // and the dot in it

const gainText = (part) => (part < 0 ? '\u2212' : '') + percent(Math.abs(part));

// ---- details under the pointer, or of the dot that was walked to

function latencyText(curve, {name, latency: value, quantile: part}) {
  const [middle, low, high] = ['', '_low', '_high'].map((suffix) =>
    timeText(value[`p${part}${suffix}_ns`]),
  );
  return [
    `${curve.target}, ${percent(value.speedup, 0)} faster:`,
    `${part === '50' ? 'half' : '99 %'} of ${name} take less than ${middle}`,
    `${low} to ${high}, if requests know nothing of each other`,
    `${countText(value.requests)} requests`,
  ].join('\n');
}

function textOf(curve, dot) {
  if (dot.latency) return latencyText(curve, dot);
  const {value} = dot;
  const lines = [
    `${curve.target}, ${percent(value.speedup, 0)} faster:`,
    `${gainText(value.gain)} \u00b1 ${percent(value.interval)} ` +
      'of the time saved',
  ];
  if (curve.share !== null)
    lines.push(
      `${percent(curve.share * value.speedup)} if all of its time counted`,
    );
  lines.push(`from ${value.groups} groups of experiments`);
  return lines.join('\n');
}

function showTip(card, index) {
  for (const dot of document.querySelectorAll('.dot.at'))
    dot.classList.remove('at');
  const tip = $('tip'),
    dot = card?.dots[index];
  tip.hidden = !dot;
  if (!dot) return;
  dot.classList.add('at');
  tip.textContent = textOf(card.curve, dot);
  const place = dot.getBoundingClientRect(),
    size = tip.getBoundingClientRect();
  const left = Math.min(place.right + 10, innerWidth - size.width - 8);
  const above = place.top - size.height - 8;
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${above > 8 ? above : place.bottom + 8}px`;
}

// The dot that is nearest to the pointer, by speed-up first.
function underPointer(event) {
  const svg = event.target.closest('svg');
  const card = event.target.closest('.card');
  if (!svg || !card || !card.dots.length) return showTip(null);
  const frame = svg.getBoundingClientRect();
  const x = ((event.clientX - frame.left) * WIDTH) / frame.width;
  const y = ((event.clientY - frame.top) * WIDTH) / frame.width;
  const far = card.dots.map((dot) =>
    dot.closest('svg') !== svg
      ? Infinity
      : 1e3 * Math.abs(dot.getAttribute('cx') - x) +
        Math.abs(dot.getAttribute('cy') - y),
  );
  return showTip(card, far.indexOf(Math.min(...far)));
}

// ---- cards

function factsOf(curve) {
  const facts = [];
  if (curve.share !== null) facts.push(`${percent(curve.share)} of the time`);
  facts.push(`${countText(curve.visits)} visits`);
  facts.push(`measured ${curve.accrual}`);
  return facts.join(' \u00b7 ');
}

function addLatencies(card, curve) {
  for (const {name, targets} of data.latencies) {
    const {values} = targets[curve.number];
    if (!values.length || values[0].p50_ns === null) continue;
    const all = ownScales ? values : targets.flatMap((each) => each.values);
    const picture = latencyPictureOf(name, values, latencyRangeOf(all));
    for (const dot of picture.querySelectorAll('.dot')) {
      dot.name = name;
      card.dots.push(dot);
    }
    card.append(make('h3', `How long ${name} take`), picture);
  }
}

function cardOf(curve, range) {
  const card = make(
    'article',
    {className: 'card', tabIndex: -1},
    make('h2', curve.target),
    make('p', factsOf(curve)),
  );
  card.curve = curve;
  card.dots = [];
  if (knownOf(curve).length > 1) {
    const picture = pictureOf(curve, ownScales ? rangeOf([curve]) : range);
    card.dots = [...picture.querySelectorAll('.dot')];
    card.append(picture);
  }
  addLatencies(card, curve);
  card.append(make('p', {className: 'why', textContent: curve.explanation}));
  return card;
}

function draw() {
  const word = $('filter').value.toLowerCase();
  const all = data.points.length ? data.points[point].curves : [];
  const range = rangeOf(all);
  cards = all
    .filter((curve) => curve.target.toLowerCase().includes(word))
    .map((curve) => cardOf(curve, range));
  at = dotAt = -1;
  $('cards').replaceChildren(...cards);
  press('scale', ownScales);
  for (const choice of $('points').children)
    choice.setAttribute('aria-pressed', String(choice.index === point));
  showTip(null);
}

function goCard(to) {
  if (to < 0 || to >= cards.length) return;
  at = to;
  dotAt = -1;
  cards[at].focus();
  cards[at].scrollIntoView({block: 'nearest'});
  showTip(null);
}

function goDot(step) {
  if (at < 0) goCard(0);
  if (at < 0 || !cards[at].dots.length) return;
  dotAt = Math.min(Math.max(dotAt + step, 0), cards[at].dots.length - 1);
  showTip(cards[at], dotAt);
}

function goPoint(to) {
  if (to < 0 || to >= data.points.length) return;
  point = to;
  draw();
}

function toggleScales() {
  ownScales = !ownScales;
  draw();
}

const keyList = [
  [['j', 'ArrowDown'], 'next target', () => goCard(at + 1)],
  [['k', 'ArrowUp'], 'target before', () => goCard(Math.max(at - 1, 0))],
  [['ArrowRight'], 'next speed-up', () => goDot(1)],
  [['ArrowLeft'], 'speed-up before', () => goDot(-1)],
  [[']'], 'next point of progress', () => goPoint(point + 1)],
  [['['], 'point of progress before', () => goPoint(point - 1)],
  [['s'], 'each picture with a scale of its own', toggleScales],
  [['/'], 'filter targets', () => $('filter').focus()],
  [['t'], 'next theme', () => $('theme').click()],
  [['Escape'], 'hide details', () => showTip(null)],
  [['?'], 'show this help', () => showHelp()],
];
const helpTexts = [
  'A gain is the part of the time from one unit of work to the next that ' +
    'would be saved, as experiments on a virtual clock have measured it.',
];

// What the rest is to be compared with.
function showNone({point: name, none}) {
  if (none.gain === null) return;
  const gain = `${gainText(none.gain)} \u00b1 ${percent(none.interval)}`;
  const textContent = `A/A: where nothing is faster, ${name} gains ${gain}`;
  $('notes').append(make('li', {className: 'none', textContent}));
}

function showFacts() {
  document.title = $('title').textContent =
    'What would be faster: ' + data.title;
  $('facts').textContent = [
    `${countText(data.experiments)} experiments`,
    `${countText(data.abandoned)} abandoned`,
  ].join(' \u00b7 ');
  for (const key of document.querySelectorAll('.quantile'))
    key.hidden = !data.latencies.length;
  for (const note of data.notes) $('notes').append(make('li', note));
  data.points.forEach(showNone);
  data.points.forEach((each, index) => {
    const title = 'Time from one of these to the next ([ ])';
    const choice = button(each.point, () => goPoint(index), {title, index});
    $('points').append(choice);
  });
}

async function begin() {
  data = (await readPayload()).head;
  showFacts();
  listenToClicks({scale: toggleScales, ask: showHelp});
  listenToKeys();
  listenToFilter(draw);
  listen($('cards'), {
    pointermove: underPointer,
    pointerleave: () => showTip(null),
  });
  draw();
  document.body.dataset.ready = 'yes';
}

begin().catch(showFailure);
