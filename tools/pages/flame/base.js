// SPDX-License-Identifier: Apache-2.0
// Helpers of all scripts: elements, readable numbers, and work in slices, so
// that the page stays responsive.

const SLICE_MS = 10;

const $ = (id) => document.getElementById(id);

// An element; text is never parsed as HTML, whatever a function is called.
function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

// Runs a generator, a slice at a time; it yields where it may be interrupted.
// Returns a function that stops it.
function inSlices(work, done) {
  let stopped = false;
  const step = () => {
    const end = performance.now() + SLICE_MS;
    while (!stopped) {
      const {done: over, value} = work.next();
      if (over) {
        stopped = true;
        if (done) done(value);
      } else if (performance.now() > end) {
        setTimeout(step);
        return;
      }
    }
  };
  step();
  return () => {
    stopped = true;
  };
}

// Calls (what) once, before the next frame is shown, however often it is asked.
function perFrame(what) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      what();
    });
  };
}

function later(what, ms) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(what, ms);
  };
}

const countText = (number) => Math.round(number).toLocaleString('en-US');

const samplesText = (number) =>
  countText(number) + (number === 1 ? ' sample' : ' samples');

function shareText(part) {
  const percent = 100 * part;
  if (percent === 0) return '0 %';
  if (percent < 0.01) return '<0.01 %';
  return percent.toFixed(percent < 10 ? 2 : 1) + ' %';
}

const pointsText = (part) =>
  (part < 0 ? '\u2212' : '+') + Math.abs(100 * part).toFixed(2);

// With as many digits as (step), the distance of two of them, asks for, and in
// the unit that suits (size).
function secondsText(seconds, step = seconds / 100, size = seconds) {
  const [unit, name] =
    size >= 1 ? [1, 's'] : size >= 0.001 ? [1e3, 'ms'] : [1e6, '\u00b5s'];
  const digits = step > 0 ? Math.ceil(-Math.log10(step * unit) - 1e-9) : 0;
  return (
    (seconds * unit).toFixed(Math.max(0, Math.min(6, digits))) + ' ' + name
  );
}

// The Wilson interval of (part) of (count) samples, 95 %: Wilson 1927.
function interval(part, count, z = 1.959964) {
  if (count === 0) return [0, 1];
  const over = 1 + (z * z) / count;
  const middle = (part + (z * z) / (2 * count)) / over;
  const half =
    (z / over) *
    Math.sqrt((part * (1 - part)) / count + (z * z) / (4 * count * count));
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

// The interval of the difference of two parts: Newcombe 1998, method 10.
function differenceInterval(part, count, base, baseCount, z) {
  const [low, high] = interval(part, count, z);
  const [baseLow, baseHigh] = interval(base, baseCount, z);
  const difference = part - base;
  return [
    difference - Math.hypot(part - low, baseHigh - base),
    difference + Math.hypot(high - part, base - baseLow),
  ];
}

function firstAtLeast(sorted, value) {
  let low = 0,
    high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
