// SPDX-License-Identifier: Apache-2.0
// Counts, rates and response times of what is selected: a stretch of time, and
// the objects that are shown.

// What a response time may run from and to: the kinds of edges, and running.
// Labels can be chosen as well.
const MARKS = [...ARROWS.slice(0, ARROW.failed_read), 'run'];

// The events of the trace that are about an object, as far as they are marks:
// [time, kind, object] in three columns, made once. Kinds from LABELS on are
// labels, by their names.
const LABELS = 256;
let marks = null;

function allMarks() {
  if (marks) return marks;
  const {edges, spans, labels} = model,
    list = [];
  for (let i = 0; i < edges.time.length; ++i)
    list.push([edges.time[i], edges.kind[i], edges.to[i]]);
  for (let i = 0; i < spans.count; ++i)
    if (spans.state[i] === TASKS_STATE.running && !isLoop(spans.object[i]))
      list.push([spans.begin[i], MARKS.indexOf('run'), spans.object[i]]);
  for (let i = 0; i < labels.count; ++i)
    list.push([labels.time[i], LABELS + labels.name[i], labels.object[i]]);
  list.sort((a, b) => a[0] - b[0]);
  marks = {
    time: Float64Array.from(list, (mark) => mark[0]),
    kind: Int32Array.from(list, (mark) => mark[1]),
    object: Int32Array.from(list, (mark) => mark[2]),
  };
  return marks;
}

// What can be chosen: [value, words] each.
function marksThere() {
  const {head} = model,
    kinds = new Set(allMarks().kind);
  const labels = [...kinds].filter((kind) => kind >= LABELS).slice(0, 200);
  return [
    ...MARKS.filter((_, kind) => kinds.has(kind)).map((mark) => [
      mark,
      arrowWords(mark),
    ]),
    ...labels
      .map((kind) => head.names[kind - LABELS])
      .map((name) => ['label:' + name, name]),
  ];
}

const markOf = (value) =>
  value.startsWith('label:')
    ? LABELS + model.head.names.indexOf(value.slice(6))
    : MARKS.indexOf(value);

const isCounted = (object) =>
  !object || isLoop(object) || items.ofObject[object] >= 0;

// Times from each mark (from) of an object to its next mark (to), in
// [begin, end).
function* responseTimes(from, to, begin, end) {
  const {time, kind, object} = allMarks(),
    kindFrom = markOf(from),
    kindTo = markOf(to),
    open = new Map(),
    times = [];
  for (let i = firstAtLeast(time, begin); time[i] < end; ++i) {
    if (i % 8192 === 0) yield;
    const o = object[i];
    if (!isCounted(o)) continue;
    if (kind[i] === kindTo && open.has(o)) {
      times.push(time[i] - open.get(o));
      open.delete(o);
    }
    if (kind[i] === kindFrom && !open.has(o)) open.set(o, time[i]);
  }
  return {times: Float64Array.from(times).sort(), open: open.size};
}

// Marks by kind in [begin, end) of what is shown; labels are one.
function* countEvents(begin, end) {
  const {time, kind, object} = allMarks(),
    counts = new Float64Array(MARKS.length + 1);
  for (let i = firstAtLeast(time, begin); time[i] < end; ++i) {
    if (i % 8192 === 0) yield;
    if (isCounted(object[i])) ++counts[Math.min(kind[i], MARKS.length)];
  }
  return counts;
}

// The value below which (part) of sorted (times) are: the nearest rank.
const percentile = (times, part) =>
  times[Math.max(0, Math.ceil(part * times.length) - 1)];

// Equal steps of the logarithm: [from, to, count] each.
function histogram(times, bars = 30) {
  if (times.length === 0) return [];
  const least = Math.max(1, times[0]),
    most = Math.max(least * 1.01, times[times.length - 1]);
  const unit = Math.log(most / least) / bars,
    counts = new Array(bars).fill(0);
  for (const time of times)
    ++counts[
      Math.min(bars - 1, Math.floor(Math.log(Math.max(1, time) / least) / unit))
    ];
  return counts.map((count, i) => [
    least * Math.exp(i * unit),
    least * Math.exp((i + 1) * unit),
    count,
  ]);
}
