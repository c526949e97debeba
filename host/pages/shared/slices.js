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

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

// The first number of [low, high) that (fits), as all after it do; or (high).
function firstThat(low, high, fits) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (fits(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

const firstAtLeast = (sorted, value) =>
  firstThat(0, sorted.length, (i) => sorted[i] >= value);

// A promise of what (work), in slices, returns.
const finished = (work) => new Promise((done) => inSlices(work, done));

// Records by the number, below (count), that (column) has: those of number n
// are list[from[n]] up to list[from[n + 1]], in order.
function* byNumber(column, count) {
  const from = new Uint32Array(count + 1);
  for (let i = 0; i < column.length; ++i) ++from[column[i] + 1];
  for (let o = 0; o < count; ++o) from[o + 1] += from[o];
  yield;
  const next = from.slice(),
    list = new Uint32Array(column.length);
  for (let i = 0; i < column.length; ++i) list[next[column[i]]++] = i;
  yield;
  return {from, list};
}
