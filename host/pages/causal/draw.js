// SPDX-License-Identifier: Apache-2.0
// The picture of one curve. Sizes are those of its view box.

const WIDTH = 420,
  HEIGHT = 210,
  LEFT = 62, // of the plot: what is beside its lines has room
  RIGHT = 12,
  TOP = 10,
  BOTTOM = 24;

const percent = (part, digits = 2) => (100 * part).toFixed(digits) + ' %';

const xOf = (speedup) => LEFT + speedup * (WIDTH - LEFT - RIGHT);

// Values that are known, and none at no speed-up.
const knownOf = (curve) => [
  {speedup: 0, gain: 0, interval: 0},
  ...curve.values.filter((value) => value.gain !== null),
];

// What a scale of these curves has to show.
function rangeOf(curves) {
  let low = 0,
    high = 0.01;
  for (const curve of curves)
    for (const {gain, interval, speedup} of knownOf(curve)) {
      // a wide interval says little: it must not flatten all else
      const reach = Math.min(interval, Math.abs(gain) + 0.05);
      low = Math.min(low, gain - reach);
      high = Math.max(high, gain + reach, (curve.share || 0) * speedup);
    }
  return {low: Math.max(low, -10), high: Math.min(high * 1.05, 1.05)};
}

// A text at (x, y), which it begins, ends or has in its middle.
const textAt = (x, y, anchor, text, more) =>
  shape('text', {x, y, 'text-anchor': anchor, ...more}, text);

// A picture with the grid of (range), and text(value, step) beside each line.
function framed(label, range, yOf, text) {
  const svg = shape('svg', {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    role: 'img',
    'aria-label': label,
  });
  const {low, high} = range;
  const {ticks, step} = ticksOf(low, high, (high - low) / 9);
  for (const tick of ticks) {
    const y = yOf(tick);
    svg.append(
      shape('line', {
        class: tick === 0 ? 'zero' : 'grid',
        x1: LEFT,
        x2: WIDTH - RIGHT,
        y1: y,
        y2: y,
      }),
      textAt(LEFT - 6, y + 4, 'end', text(tick, step)),
    );
  }
  for (const speedup of [0, 0.25, 0.5, 0.75, 1]) {
    const words = percent(speedup, 0) + (speedup === 0 ? ' faster' : ''),
      anchor = speedup === 1 ? 'end' : 'middle';
    svg.append(textAt(xOf(speedup), HEIGHT - 8, anchor, words));
  }
  return svg;
}

// A dot that can be walked to.
const dotOf = (cx, cy, kind, more) =>
  Object.assign(shape('circle', {class: `dot ${kind}`, cx, cy, r: 4}), more);

const pathOf = (points) => points.map(([x, y]) => `${x},${y}`).join(' ');

const stepText = (gain, step) => percent(gain, step < 0.01 ? 1 : 0);

// The picture; its dots have (value).
function pictureOf(curve, range) {
  const known = knownOf(curve);
  const scale = (HEIGHT - TOP - BOTTOM) / (range.high - range.low);
  const clamp = (gain) => Math.min(Math.max(gain, range.low), range.high);
  const yOf = (gain) => TOP + (range.high - clamp(gain)) * scale;
  const label = `Gain of ${curve.target} by its speed-up`;
  const svg = framed(label, range, yOf, stepText);
  const upper = known.map((v) => [xOf(v.speedup), yOf(v.gain + v.interval)]);
  const lower = known.map((v) => [xOf(v.speedup), yOf(v.gain - v.interval)]);
  svg.append(
    shape('polygon', {
      class: 'band',
      points: pathOf([...upper, ...lower.reverse()]),
    }),
  );
  if (curve.share > 0) {
    const end = Math.min(1, range.high / curve.share); // of the picture
    svg.append(
      shape('line', {
        class: 'whole',
        x1: xOf(0),
        y1: yOf(0),
        x2: xOf(end),
        y2: yOf(end * curve.share),
      }),
    );
  }
  if (curve.bend !== null)
    svg.append(
      shape('line', {
        class: 'bend',
        x1: xOf(curve.bend),
        x2: xOf(curve.bend),
        y1: TOP,
        y2: HEIGHT - BOTTOM,
      }),
    );
  svg.append(
    shape('polyline', {
      class: 'curve',
      points: pathOf(known.map((v) => [xOf(v.speedup), yOf(v.gain)])),
    }),
  );
  for (const value of known.slice(1))
    svg.append(dotOf(xOf(value.speedup), yOf(value.gain), '', {value}));
  return svg;
}

// ---- latencies: values have (speedup) and p50 and p99 in ns

const PARTS = ['50', '99'];
const UNITS = [
  [1, 'ns'],
  [1e3, '\u00b5s'],
  [1e6, 'ms'],
  [1e9, 's'],
];

// Three digits in the unit of (scale), such as "1.25 ms".
function timeText(ns, scale = ns) {
  const [size, name] = UNITS.findLast(([least]) => scale >= least) || UNITS[0];
  const value = ns / size;
  const digits = value === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${name}`;
}

function drawQuantile(svg, values, part, yOf) {
  const points = (suffix) =>
    values.map((v) => [xOf(v.speedup), yOf(v[`p${part}${suffix}_ns`])]);
  svg.append(
    shape('polygon', {
      class: `band${part}`,
      points: pathOf([...points('_high'), ...points('_low').reverse()]),
    }),
    shape('polyline', {class: `p${part}`, points: pathOf(points(''))}),
  );
  points('').forEach(([x, y], i) => {
    const more = {latency: values[i], quantile: part};
    svg.append(dotOf(x, y, `dot${part}`, more));
  });
}

const TEXT_HEIGHT = 14;

// The names of both curves at their ends: above them or, where that is too
// near, one of them below or higher. The first is never above the other.
function nameQuantiles(svg, value, yOf) {
  const x = xOf(value.speedup),
    [y50, y99] = PARTS.map((part) => yOf(value[`p${part}_ns`])),
    below = y50 + TEXT_HEIGHT + 4;
  let at50 = y50 - 9,
    at99 = y99 - 9;
  if (at50 - at99 < TEXT_HEIGHT) {
    if (below < HEIGHT - BOTTOM) at50 = below;
    else at99 = at50 - TEXT_HEIGHT;
  }
  const anchor = x < WIDTH / 2 ? 'start' : 'end';
  for (const [part, y, text] of [
    ['50', at50, 'half'],
    ['99', at99, '99 %'],
  ])
    svg.append(textAt(x, y, anchor, text, {class: `name${part}`}));
}

// What scale these need; bounds of a wide interval may be outside.
function latencyRangeOf(values) {
  const most = values.map((v) => Math.min(v.p99_high_ns, 1.5 * v.p99_ns));
  return {low: 0, high: Math.max(1, ...most) * 1.08};
}

function latencyPictureOf(name, values, range) {
  const scale = (HEIGHT - TOP - BOTTOM) / range.high;
  const yOf = (ns) => TOP + (range.high - Math.min(ns, range.high)) * scale;
  const label = `Latency of ${name} by the speed-up`,
    svg = framed(label, range, yOf, (ns) => timeText(ns, range.high));
  for (const part of PARTS) drawQuantile(svg, values, part, yOf);
  nameQuantiles(svg, values.at(-1), yOf);
  return svg;
}
