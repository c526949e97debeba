// SPDX-License-Identifier: Apache-2.0
// The row of a group: above, how many of its objects exist, and how many of
// them are ready; below, each life at its end, the longer the higher, so that
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

// The mean of (curve) in each pixel.
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
