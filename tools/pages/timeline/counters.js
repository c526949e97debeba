// SPDX-License-Identifier: Apache-2.0
// Counters as step lines over what is drawn of their trace, or below it where
// there is room. Names that are equal up to their last number sign share a
// scale; every scale includes 0.

const COUNTER_ROOM = 90; // pixels below the rows, to be drawn there

// [top, bottom] of the counters of (trace), in pixels.
function groundOfCounters(trace, yOf) {
  const [top, bottom] = groundOf(trace, yOf),
    last = trace === model.head.traces.length - 1,
    low = bottom - (last ? MARGIN_BOTTOM : 6),
    rows = yOf(items.bands[trace][1] - 0.5) + 14;
  if (low - rows >= COUNTER_ROOM) return [rows, low];
  return [top + (trace > 0 ? 6 : MARGIN_TOP), low];
}

const scaleKey = (name) => name.replace(/#[^#]*$/, '');

function scaleOfCounters() {
  const scales = new Map();
  for (const [name, counter] of model.counters) {
    const key = scaleKey(model.head.names[name]);
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
function stepsOf(counter, scale, [top, bottom]) {
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
function paintCounterNames(pen, names) {
  names.sort((a, b) => a[0] - b[0]);
  let until = -20;
  for (const [y, text, colour] of names) {
    until = Math.max(until + 15, y);
    const wide = pen.measureText(text).width;
    haloText(pen, text, port.width - wide - 8, until - 8, colour);
  }
}

function* paintCounters(pen, yOf) {
  const scales = scaleOfCounters(),
    names = model.head.traces.map(() => []);
  const texts = new Set(); // one colour for a name, in all traces
  for (const [name, counter] of model.counters) {
    const text = model.head.names[name],
      number = [...texts.add(text)].indexOf(text),
      colour = palette.counters[number % palette.counters.length],
      ground = groundOfCounters(counter.trace, yOf);
    const steps = stepsOf(counter, scales.get(scaleKey(text)), ground);
    if (steps.length === 0) continue;
    paintRanges(pen, steps, colour);
    pen.lineWidth = 1.5;
    pen.strokeStyle = colour;
    pen.globalAlpha = steps.length * 3 > port.width ? 0.45 : 0.9;
    strokeSteps(pen, steps);
    pen.globalAlpha = 1;
    const said = `${text}, up to ${countText(scales.get(scaleKey(text)).most)}`;
    names[counter.trace].push([steps[steps.length - 1][1], said, colour]);
    yield;
  }
  for (const list of names) paintCounterNames(pen, list);
}
