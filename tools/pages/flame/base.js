// SPDX-License-Identifier: Apache-2.0
// Helpers of all scripts: work in slices, so that the page stays responsive,
// and intervals.

const SLICE_MS = 10;

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

const pointsText = (part) =>
  (part < 0 ? '\u2212' : '+') + Math.abs(100 * part).toFixed(2);

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
