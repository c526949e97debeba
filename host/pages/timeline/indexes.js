// SPDX-License-Identifier: Apache-2.0
// Spans, arrows and labels by object, and what ran by trace: made once.

const by = {
  span: null, // of spans, by object, as byNumber() makes it
  out: null, // of arrows that leave an object
  into: null, // of arrows that reach it
  label: null,
  runs: [], // of each trace: run spans in order of time
};

function* makeIndexes() {
  const {objects, spans, arrows, labels} = model;
  by.span = yield* byNumber(spans.object, objects.count);
  by.out = yield* byNumber(arrows.from, objects.count);
  by.into = yield* byNumber(arrows.to, objects.count);
  by.label = yield* byNumber(labels.object, objects.count);
  by.runs = model.head.traces.map(() => []);
  for (let i = 0; i < spans.count; ++i)
    if (spans.state[i] === TASKS_STATE.running)
      by.runs[objects.trace[spans.object[i]]].push(i);
}

// What (index) has of (object); and (what) called with each of it.
const listOfObject = ({from, list}, object) =>
  list.subarray(from[object], from[object + 1]);
function each(index, object, what) {
  for (const i of listOfObject(index, object)) what(i);
}

// The first of (list), indexes of (column) in rising order, that is at least
// (value).
const firstOf = (list, column, value) =>
  firstThat(0, list.length, (i) => column[list[i]] >= value);
