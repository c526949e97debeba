// SPDX-License-Identifier: Apache-2.0
// What a group's row shows: how many of its objects there are at each time, and
// how long they lived. It is worked out when the row is first painted.

// How many intervals hold a time, from their beginnings and ends, each sorted.
class Curve {
  constructor(begins, ends) {
    this.begins = Float64Array.from(begins).sort();
    this.ends = Float64Array.from(ends).sort();
    this.begun = sumsOf(this.begins);
    this.ended = sumsOf(this.ends);
  }

  at(time) {
    return firstAtLeast(this.begins, time) - firstAtLeast(this.ends, time);
  }

  // The sum of their lengths before (time).
  before(time) {
    const n = firstAtLeast(this.begins, time),
      m = firstAtLeast(this.ends, time);
    return n * time - this.begun[n] - (m * time - this.ended[m]);
  }

  // The mean from (from) to (to). Short ones would drown in rounding.
  mean(from, to) {
    if (to - from < 16) return this.at((from + to) / 2);
    return (this.before(to) - this.before(from)) / (to - from);
  }

  most() {
    const {begins, ends} = this;
    let most = 0;
    for (let i = 0, over = 0; i < begins.length; ++i) {
      while (over < ends.length && ends[over] <= begins[i]) ++over;
      most = Math.max(most, i + 1 - over);
    }
    return most;
  }
}

function sumsOf(list) {
  const sums = new Float64Array(list.length + 1);
  for (let i = 0; i < list.length; ++i) sums[i + 1] = sums[i] + list[i];
  return sums;
}

// Stretches in which (members) are in one of the states that (lists) has.
function* collectSpans(members, lists) {
  const {spans} = model;
  for (const [n, o] of members.entries()) {
    each(by.span, o, (i) => {
      const list = lists[spans.state[i]];
      if (!list) return;
      list.begins.push(spans.begin[i]);
      list.ends.push(spans.end[i]);
    });
    if (n % 1024 === 0) yield;
  }
}

const lifeOf = (o) => Math.max(1, endOf(o) - model.objects.begin[o]);

// {all, ready, run: curves; most; isTask; byEnd: members in order of their
// ends; ends; lives: of those that ended, sorted; failed, open: how many}
function* makeBand(group) {
  const {objects} = model,
    {shown} = group,
    ready = {begins: [], ends: []},
    run = {begins: [], ends: []};
  yield* collectSpans(shown, {
    [TASKS_STATE.ready]: ready,
    [TASKS_STATE.running]: run,
  });
  const all = new Curve(
    shown.map((o) => objects.begin[o]),
    shown.map(endOf),
  );
  yield;
  const byEnd = Uint32Array.from(shown).sort((a, b) => endOf(a) - endOf(b));
  yield;
  const ended = shown.filter((o) => objects.state[o] !== TASKS_END.open);
  return {
    all,
    ready: new Curve(ready.begins, ready.ends),
    run: new Curve(run.begins, run.ends),
    most: all.most(),
    isTask: run.begins.length > 0,
    byEnd,
    ends: Float64Array.from(byEnd, endOf),
    lives: Float64Array.from(ended, lifeOf).sort(),
    failed: shown.filter((o) => objects.state[o] === TASKS_END.failed).length,
    open: shown.length - ended.length,
    cells: null, // where lives are on the picture: {x, y, size, columns, at}
  };
}

function* bandOf(group) {
  if (!group.band) group.band = yield* makeBand(group);
  return group.band;
}

// Where the site is, for there may be several of a name.
function placeOfSite(object) {
  const {head, objects} = model,
    site = objects.site[object],
    file = site ? head.files[site] : '';
  return file ? `${file.replace(/.*\//, '')}:${head.lines[site]}` : '';
}

function factsOfBand(group, band) {
  const facts = [
      placeOfSite(group.site),
      `up to ${countText(band.most)} at once`,
    ],
    {lives} = band;
  if (lives.length)
    facts.push(
      `life p50 ${clocksText(percentile(lives, 0.5))}, ` +
        `p99 ${clocksText(percentile(lives, 0.99))}, ` +
        `longest ${clocksText(lives[lives.length - 1])}`,
    );
  if (band.failed) facts.push(`${countText(band.failed)} failed`);
  if (band.open) facts.push(`${countText(band.open)} still pending`);
  return facts.filter(Boolean);
}

// What a group does at (time), in words.
function groupAt(group, time) {
  const {band} = group;
  if (!band) return '';
  const all = band.all.at(time),
    ready = band.ready.at(time),
    run = band.run.at(time);
  const parts = [`${countText(all)} exist`];
  if (band.isTask)
    parts.push(
      `${countText(run)} run, ${countText(ready)} are ready, ` +
        `${countText(all - run - ready)} wait`,
    );
  return `At ${timeText(time)}: ${parts.join('; ')}. `;
}

// ---- the row of a group: above, how many of its objects exist, and how many
// are ready; below, each life at its end, the longer the higher, so that
// outliers are seen one by one and can be clicked.

const BAND_GAP = 4; // pixels above and below
const BAND_HEAD = 16; // of its name
const BAND_LIVES = 112; // high: from here on lives have room
const BAND_THIN = 9; // only a shade
const STRIP = 5; // that shows how much of the time its objects run
const CELL = 3; // of lives that are counted together

// Rows of a group of tasks, and of promises: the most that fit. Where nothing
// fits, a few tasks have room all the same, and the rest is pressed together.
const BAND_ROWS = [
  [12, 4],
  [10, 3],
  [9, 2],
  [9, 1],
];
const leastTall = (tasks) => (tasks <= 2 ? 9 : tasks <= 6 ? 6 : 3);

function rowsOfBands(tasks, promises, others) {
  const room = Math.floor(roomForRows() / PITCH) - others;
  return (
    BAND_ROWS.find(([t, p]) => t * tasks + p * promises <= room) || [
      leastTall(tasks),
      1,
    ]
  );
}

// [top, bottom] in pixels of the group (item).
function edgesOfBand(item, yOf) {
  const first = items.rows[item];
  return [
    yOf(first - 0.5) + BAND_GAP,
    yOf(first + items.tall[item] - 0.5) - BAND_GAP,
  ];
}

// Numbers and names are readable over what is drawn.
function haloText(pen, text, x, y, colour) {
  pen.lineJoin = 'round';
  pen.strokeStyle = palette.ground;
  pen.lineWidth = 3;
  pen.globalAlpha = 0.85;
  pen.strokeText(text, x, y);
  pen.globalAlpha = 1;
  pen.fillStyle = colour;
  pen.fillText(text, x, y);
}

function meansOf(curve) {
  const {from, to, width} = port,
    step = (to - from) / width;
  return Float64Array.from({length: width}, (_, x) =>
    curve.mean(from + x * step, from + (x + 1) * step),
  );
}

// The area between (low) and (high), counts of each pixel.
function paintArea(pen, low, high, bottom, unit, colour) {
  pen.fillStyle = colour;
  for (let x = 0; x < high.length; ++x) {
    const n = high[x] - low[x];
    if (n < 1e-6) continue;
    const tall = Math.max(low[x] ? 0 : 1, n * unit);
    pen.fillRect(x, bottom - low[x] * unit - tall, 1, tall);
  }
}

function paintShade(pen, band, all, [top, bottom]) {
  pen.fillStyle = palette.density;
  for (const [x, n] of all.entries()) {
    if (n <= 0) continue;
    pen.globalAlpha = 0.2 + (0.8 * n) / band.most;
    pen.fillRect(x, top, 1, bottom - top);
  }
  pen.globalAlpha = 1;
}

// How many there are; the scale is that of the whole trace.
function paintCounts(pen, band, all, [top, bottom]) {
  const unit = (bottom - top) / band.most,
    none = new Float64Array(all.length),
    ready = meansOf(band.ready);
  if (bottom - top < BAND_HEAD + 8) pen.globalAlpha = 0.6; // under its name
  paintArea(pen, none, ready, bottom, unit, palette.ready);
  paintArea(pen, ready, all, bottom, unit, palette.density);
  pen.globalAlpha = 1;
  pen.fillStyle = palette.soft;
  pen.fillRect(0, bottom, port.width, 1);
  if (bottom - top < 30) return;
  pen.globalAlpha = 0.5;
  pen.fillRect(0, top, port.width, 1);
  pen.globalAlpha = 1;
  haloText(pen, countText(band.most), 6, top + 7, palette.soft);
  haloText(pen, '0', 6, bottom - 6, palette.soft);
}

// How much of each pixel's time one of them runs.
function paintStrip(pen, band, bottom) {
  const shares = meansOf(band.run);
  pen.fillStyle = palette.run;
  for (const [x, share] of shares.entries()) {
    if (share <= 0) continue;
    pen.globalAlpha = 0.35 + 0.65 * Math.min(1, share);
    pen.fillRect(x, bottom + 1, 1, STRIP);
  }
  pen.globalAlpha = 1;
}

function* paintBand(pen, item, yOf) {
  const [top, bottom] = edgesOfBand(item, yOf),
    group = groups[items.group[item]],
    band = yield* bandOf(group),
    all = meansOf(band.all);
  band.cells = null;
  if (bottom - top < BAND_THIN) {
    paintShade(pen, band, all, [top, bottom]);
    return;
  }
  const hasLives = bottom - top >= BAND_LIVES,
    head = bottom - top >= 2 * BAND_HEAD ? BAND_HEAD : 0,
    strip = band.isTask && head ? STRIP + 1 : 0,
    base = hasLives ? top + 0.42 * (bottom - top) : bottom - strip;
  paintCounts(pen, band, all, [top + head, base]);
  if (strip) paintStrip(pen, band, base);
  yield;
  if (hasLives) yield* paintLives(pen, band, [base + strip + 8, bottom]);
}

// Over all else: of which group a row is.
function paintBandNames(pen, yOf) {
  for (let row = 0; row < items.height; ++row) {
    const item = items.bandAt[row];
    if (item < 0 || items.rows[item] !== row) continue;
    const [top, bottom] = edgesOfBand(item, yOf),
      group = groups[items.group[item]];
    if (group.band && bottom - top >= LABEL_ROOM)
      paintBandName(pen, group, top + 8);
  }
}

function paintBandName(pen, group, y) {
  const name = `${countText(group.shown.length)} × ${siteName(group.site)}`;
  haloText(pen, name, 6, y, palette.ink);
  const at = 6 + pen.measureText(name).width + 10,
    facts = factsOfBand(group, group.band).join('  ·  '),
    text = clipped(pen, facts, port.width - at - 6);
  if (text) haloText(pen, text, at, y, palette.soft);
}

// ---- the lives of a group's objects: each at its end, as high as it was long,
// on a scale of logarithms. Those near to each other are a darker cell.

const QUANTILES = [
  ['p50', 0.5],
  ['p99', 0.99],
];

// A function from lives to pixels, of lives that all fit between (top) and
// (bottom); and the limits.
function scaleOfLives(band, [top, bottom]) {
  const {lives} = band,
    longest = band.byEnd.reduce((most, o) => Math.max(most, lifeOf(o)), 1),
    shortest = lives.length ? percentile(lives, 0.001) : longest,
    low = Math.log(Math.min(shortest, longest / 10) * 0.8),
    high = Math.log(longest * 1.25);
  const yOf = (life) =>
    bottom -
    ((Math.max(low, Math.log(life)) - low) / (high - low)) * (bottom - top);
  return {yOf, low: Math.exp(low), high: Math.exp(high)};
}

// Lines at 1, 10, 100 us and so on, with what is between where there is room.
function paintLifeAxis(pen, {yOf, low, high}) {
  const hz = model.head.clock_hz;
  let last = Infinity;
  for (let power = Math.floor(Math.log10(low / hz)); ; ++power) {
    const life = 10 ** power * hz,
      y = Math.round(yOf(life));
    if (life > high) return;
    if (life < low || last - y < 14) continue;
    last = y;
    pen.fillStyle = palette.soft;
    pen.globalAlpha = 0.3;
    pen.fillRect(0, y, port.width, 1);
    pen.globalAlpha = 1;
    haloText(
      pen,
      secondsText(10 ** power, 10 ** power),
      6,
      y - 7,
      palette.soft,
    );
  }
}

function paintQuantiles(pen, band, {yOf}) {
  if (band.lives.length === 0) return;
  let above = Infinity;
  for (const [name, part] of QUANTILES) {
    const life = percentile(band.lives, part),
      y = Math.round(yOf(life)),
      text = `${name} ${clocksText(life)}`,
      x = port.width - pen.measureText(text).width - 8;
    pen.fillStyle = palette.found;
    for (let dash = 0; dash < port.width; dash += 8)
      pen.fillRect(dash, y, 4, 1);
    above = Math.min(y - 7, above - 14);
    haloText(pen, text, x, above, palette.found);
  }
}

// Counts the lives in sight by cells: {counts, objects: one of each, bad}.
function* countLives(band, yOf, cells) {
  const {objects} = model,
    {columns, rows, y} = cells,
    counts = new Uint32Array(columns * rows),
    bad = new Uint8Array(columns * rows);
  let i = firstAtLeast(band.ends, port.from);
  for (; i < band.byEnd.length && band.ends[i] <= port.to; ++i) {
    const o = band.byEnd[i],
      column = Math.floor(paintX(band.ends[i]) / CELL),
      row = Math.floor((yOf(lifeOf(o)) - y) / CELL),
      at = Math.max(0, Math.min(rows - 1, row)) * columns + column;
    if (column < 0 || column >= columns) continue;
    ++counts[at];
    cells.at[at] = o;
    if (objects.state[o] === TASKS_END.failed) bad[at] = 1;
    else if (objects.state[o] === TASKS_END.open) bad[at] |= 2;
    if (i % 8192 === 0) yield;
  }
  return {counts, bad};
}

function* paintLives(pen, band, [top, bottom]) {
  const scale = scaleOfLives(band, [top, bottom]),
    columns = Math.ceil(port.width / CELL),
    rows = Math.ceil((bottom - top) / CELL),
    at = new Uint32Array(columns * rows),
    cells = {y: top, columns, rows, at};
  const {counts, bad} = yield* countLives(band, scale.yOf, cells);
  const most = counts.reduce((a, b) => Math.max(a, b), 1);
  paintLifeAxis(pen, scale);
  for (let i = 0; i < counts.length; ++i) {
    if (counts[i] === 0) continue;
    pen.fillStyle = [palette.density, palette.bad, palette.object][
      bad[i] & 1 ? 1 : bad[i]
    ];
    pen.globalAlpha =
      bad[i] || most === 1
        ? 1
        : 0.5 + (0.5 * Math.log(counts[i])) / Math.log(most);
    pen.fillRect(
      (i % columns) * CELL,
      top + Math.floor(i / columns) * CELL,
      CELL,
      CELL,
    );
    if (i % 4096 === 0) yield;
  }
  pen.globalAlpha = 1;
  paintQuantiles(pen, band, scale);
  paintChosenLife(pen, band, scale);
  band.cells = cells;
}

// The chosen object, from its beginning to its end.
function paintChosenLife(pen, band, {yOf}) {
  const o = view.chosen;
  if (!o || groups[items.group[items.ofObject[o]]]?.band !== band) return;
  const x0 = paintX(model.objects.begin[o]),
    x1 = paintX(endOf(o)),
    y = yOf(lifeOf(o));
  pen.fillStyle = palette.found;
  pen.fillRect(x0, y - 1, Math.max(2, x1 - x0), 2);
  pen.fillRect(x1 - 3, y - 3, 6, 6);
}

// The object whose life is drawn at (x, y), or near to it; 0 = none.
function lifeAt(band, x, y) {
  if (!band?.cells) return 0;
  const {columns, rows, at, y: top} = band.cells,
    column = Math.floor(x / CELL),
    row = Math.floor((y - top) / CELL);
  for (const by of [0, 1, -1])
    for (const along of [0, 1, -1]) {
      const r = row + by,
        c = column + along;
      if (r < 0 || r >= rows || c < 0 || c >= columns) continue;
      if (at[r * columns + c]) return at[r * columns + c];
    }
  return 0;
}
