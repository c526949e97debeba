// SPDX-License-Identifier: Apache-2.0
// Spans, arrows and labels by object, and what ran by trace: made once.

const by = {
  span: null, // of spans: [from, list], spans of object o are list[from[o]] up
  out: null, // of arrows that leave an object
  into: null, // of arrows that reach it
  label: null,
  runs: [], // of each trace: run spans in order of time
};

// Records by the object that (column) names, each object's in order.
function* byObject(column, count) {
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

function* makeIndexes() {
  const {objects, spans, arrows, labels} = model;
  by.span = yield* byObject(spans.object, objects.count);
  by.out = yield* byObject(arrows.from, objects.count);
  by.into = yield* byObject(arrows.to, objects.count);
  by.label = yield* byObject(labels.object, objects.count);
  by.runs = model.head.traces.map(() => []);
  for (let i = 0; i < spans.count; ++i)
    if (spans.state[i] === TASKS_STATE.running)
      by.runs[objects.trace[spans.object[i]]].push(i);
}

// Calls (what) with each index that (index) has of (object).
function each(index, object, what) {
  for (let i = index.from[object]; i < index.from[object + 1]; ++i)
    what(index.list[i]);
}

// The first of (list), indexes of (column) in rising order, that is at least
// (value).
function firstOf(list, column, value) {
  let low = 0,
    high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (column[list[middle]] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
