// SPDX-License-Identifier: Apache-2.0
// Counters as step lines in a lane of their own below the rows: one for each
// trace that has counters. Names that are equal up to their last number sign
// share a scale; every scale includes 0.

const LANE_GAP = 10; // pixels above a lane
const LANE_FREE = 0.4; // of the picture: the most, where rows leave it free
const NAME_HIGH = 15;

const counterNames = () => [
  ...new Set([...model.counters.values()].map(({text}) => text)),
];
const colourOfCounter = ({number}) =>
  palette.counters[number % palette.counters.length];
const isDrawnCounter = ({number}) => !view.uncounted.includes(number);
const drawnCounters = () =>
  view.counters ? [...model.counters.values()].filter(isDrawnCounter) : [];

const countedTraces = () =>
  [...new Set(drawnCounters().map(({trace}) => trace))].sort((a, b) => a - b);

// [top, bottom] of the counters of (trace), in pixels.
function laneOf(trace) {
  const traces = countedTraces(),
    low = port.height - MARGIN_BOTTOM,
    room = rowsFit() ? low - MARGIN_TOP - items.height * PITCH : laneRoom(),
    top = low - Math.max(laneRoom(), Math.min(room, low * LANE_FREE)),
    high = (low - top) / traces.length,
    at = top + traces.indexOf(trace) * high;
  return [at + LANE_GAP, at + high - 2];
}

function paintLanes(pen) {
  for (const trace of countedTraces()) {
    const [top, bottom] = laneOf(trace);
    pen.fillStyle = palette.grid;
    pen.fillRect(0, top - LANE_GAP / 2, port.width, 1);
    if (model.head.traces.length < 2) continue;
    pen.fillStyle = palette.ground;
    pen.fillRect(
      0,
      top - LANE_GAP / 2 + 1,
      port.width,
      bottom - top + LANE_GAP,
    );
    pen.fillStyle = palette.soft;
    const {name} = model.head.traces[trace];
    pen.fillText(name.replace(/.*\//, ''), 6, top + 8);
  }
}

const scaleKey = (name) => name.replace(/#[^#]*$/, '');

function scalesOf(counters) {
  const scales = new Map();
  for (const counter of counters) {
    const key = scaleKey(counter.text);
    const scale = scales.get(key) || {least: 0, most: 10};
    for (let i = 0; i < counter.count; ++i) {
      scale.least = Math.min(scale.least, counter.value[i]);
      scale.most = Math.max(scale.most, counter.value[i]);
    }
    scales.set(key, scale);
  }
  return scales;
}

// The steps of a counter in sight, [x, y, least y, greatest y] each; those in
// one pixel are one, with the last value.
function pointsOf(counter, scale, [top, bottom]) {
  const unit = (bottom - top) / (scale.most - scale.least);
  const steps = [];
  let i = Math.max(0, firstAtLeast(counter.time, port.from) - 1);
  for (; i < counter.count && counter.time[i] <= port.to; ++i) {
    const x = Math.round(Math.max(-1, paintX(counter.time[i]))),
      y = bottom - (counter.value[i] - scale.least) * unit,
      last = steps[steps.length - 1];
    if (last && last[0] === x) {
      last[1] = y;
      last[2] = Math.min(last[2], y);
      last[3] = Math.max(last[3], y);
    } else steps.push([x, y, y, y]);
  }
  return steps;
}

// The range of what is in each pixel, where there is more than one value.
function paintRanges(pen, steps, colour) {
  pen.fillStyle = colour;
  pen.globalAlpha = 0.3;
  for (const [x, , least, most] of steps)
    if (most - least > 2) pen.fillRect(x, least, 1, most - least);
  pen.globalAlpha = 1;
}

function strokeSteps(pen, steps) {
  pen.beginPath();
  let last = null;
  for (const [x, y] of steps) {
    if (last === null) pen.moveTo(Math.max(0, x), y);
    else {
      pen.lineTo(x, last);
      pen.lineTo(x, y);
    }
    last = y;
  }
  if (last !== null) pen.lineTo(port.width, last);
  pen.stroke();
}

// Names at the right, readable over lines and each other.
function paintCounterNames(pen, names, [top, bottom]) {
  names.sort((a, b) => a[0] - b[0]);
  let until = top - 7;
  for (const [i, [y, text, colour]] of names.entries()) {
    const below = NAME_HIGH * (names.length - i - 1), // that follow
      room = bottom - below - 7;
    until = Math.max(until + NAME_HIGH, Math.min(y - 8, room));
    if (until > bottom) break;
    const wide = pen.measureText(text).width;
    haloText(pen, text, port.width - wide - 8, until, colour);
  }
}

function* paintCounters(pen) {
  paintLanes(pen);
  const counters = drawnCounters(),
    scales = scalesOf(counters),
    names = model.head.traces.map(() => []);
  for (const counter of counters) {
    const {text, trace} = counter,
      colour = colourOfCounter(counter),
      scale = scales.get(scaleKey(text)),
      steps = pointsOf(counter, scale, laneOf(trace));
    if (steps.length === 0) continue;
    paintRanges(pen, steps, colour);
    pen.lineWidth = 1.5;
    pen.strokeStyle = colour;
    pen.globalAlpha = steps.length * 3 > port.width ? 0.45 : 0.9;
    strokeSteps(pen, steps);
    pen.globalAlpha = 1;
    const said = `${text}, up to ${countText(scale.most)}`;
    names[trace].push([steps[steps.length - 1][1], said, colour]);
    yield;
  }
  for (const [trace, list] of names.entries())
    if (list.length) paintCounterNames(pen, list, laneOf(trace));
}
