// SPDX-License-Identifier: Apache-2.0
// Work in slices, so that the page stays responsive, and searching.

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

// A promise of what (work), in slices, returns.
function finished(work) {
  return new Promise((done) => {
    inSlices(work, done);
  });
}
