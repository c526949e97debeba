// SPDX-License-Identifier: Apache-2.0
// Counters as step lines over the picture. Names that are equal up to their
// last number sign share a scale; every scale includes 0.

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

// The steps of a counter in sight: of those in one pixel the least and most.
function stepsOf(counter, scale) {
  const high = port.height - MARGIN_TOP - MARGIN_BOTTOM,
    unit = high / (scale.most - scale.least);
  const yOf = (value) =>
    port.height - MARGIN_BOTTOM - (value - scale.least) * unit;
  const steps = [];
  let i = Math.max(0, firstAtLeast(counter.time, view.from) - 1);
  for (; i < counter.count && counter.time[i] <= view.to; ++i)
    steps.push([xOf(counter.time[i]), yOf(counter.value[i])]);
  return steps;
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

function* paintCounters(pen) {
  const scales = scaleOfCounters(),
    names = [];
  let n = 0;
  for (const [name, counter] of model.counters) {
    const text = model.head.names[name],
      colour = palette.counters[n++ % palette.counters.length];
    const steps = stepsOf(counter, scales.get(scaleKey(text)));
    if (steps.length === 0) continue;
    for (const [width, style] of [
      [4, palette.ground],
      [2, colour],
    ]) {
      pen.lineWidth = width;
      pen.strokeStyle = style;
      strokeSteps(pen, steps);
    }
    names.push([steps[steps.length - 1][1], text, colour]);
    yield;
  }
  names.sort((a, b) => a[0] - b[0]);
  let until = -20;
  for (const [y, text, colour] of names) {
    until = Math.max(until + 15, y);
    pen.fillStyle = colour;
    const wide = pen.measureText(text).width;
    pen.fillText(text, port.width - wide - 8, until - 8);
  }
}
