// SPDX-License-Identifier: Apache-2.0
// The lives of a group's objects: each at its end, as high as it was long, on a
// scale of logarithms. Those that are near to each other are a darker cell.

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
