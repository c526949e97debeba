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

// The steps of a counter in sight, [x, y, least y, greatest y] each; those in
// one pixel are one, with the last value.
function stepsOf(counter, scale) {
  const high = port.height - MARGIN_TOP - MARGIN_BOTTOM,
    unit = high / (scale.most - scale.least);
  const steps = [];
  let i = Math.max(0, firstAtLeast(counter.time, port.from) - 1);
  for (; i < counter.count && counter.time[i] <= port.to; ++i) {
    const x = Math.round(Math.max(-1, paintX(counter.time[i]))),
      y = port.height - MARGIN_BOTTOM - (counter.value[i] - scale.least) * unit,
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

function* paintCounters(pen) {
  const scales = scaleOfCounters(),
    names = [];
  let n = 0;
  for (const [name, counter] of model.counters) {
    const text = model.head.names[name],
      colour = palette.counters[n++ % palette.counters.length];
    const steps = stepsOf(counter, scales.get(scaleKey(text)));
    if (steps.length === 0) continue;
    paintRanges(pen, steps, colour);
    pen.lineWidth = 1.5;
    pen.strokeStyle = colour;
    pen.globalAlpha = steps.length * 3 > port.width ? 0.45 : 0.9;
    strokeSteps(pen, steps);
    pen.globalAlpha = 1;
    names.push([steps[steps.length - 1][1], text, colour]);
    yield;
  }
  names.sort((a, b) => a[0] - b[0]);
  let until = -20;
  pen.strokeStyle = palette.ground; // names are readable over lines
  pen.lineWidth = 4;
  for (const [y, text, colour] of names) {
    until = Math.max(until + 15, y);
    pen.fillStyle = colour;
    const wide = pen.measureText(text).width;
    pen.strokeText(text, port.width - wide - 8, until - 8);
    pen.fillText(text, port.width - wide - 8, until - 8);
  }
}
