// SPDX-License-Identifier: Apache-2.0
// Counts, rates and response times of what is selected: a stretch of time, and
// the objects that are shown.

// Marks that a response time may run from and to: kinds of events and labels.
const MARKS = [
  'create',
  'read',
  'try_read',
  'resolve',
  'fail',
  'cancel',
  'signal',
  'wake',
  'switch',
  'defer',
];

// What can be chosen: [value, words] each.
function marksThere() {
  const kinds = new Uint8Array(EVENT_NAMES.length),
    labels = new Set(),
    {events, head} = model;
  for (let i = 0; i < events.count; ++i) {
    kinds[events.kind[i]] = 1;
    if (events.kind[i] === EV.label && labels.size < 200)
      labels.add(events.name[i]);
  }
  return [
    ...MARKS.filter((mark) => kinds[EV[mark]]).map((mark) => [
      mark,
      mark.replace('_', ' '),
    ]),
    ...[...labels].map((name) => ['label:' + head.names[name], head.names[name]]),
  ];
}

function markOf(value) {
  if (value.startsWith('label:')) {
    const name = model.head.names.indexOf(value.slice(6));
    return (i) =>
      model.events.kind[i] === EV.label && model.events.name[i] === name;
  }
  return (i) => model.events.kind[i] === EV[value];
}

// Which object an event is about, with merged ones followed.
const aboutOf = (i) => model.real(model.events.object[i]);

// Times from each event (from) of an object to its next event (to), in
// [begin, end).
function* responseTimes(from, to, begin, end) {
  const isFrom = markOf(from),
    isTo = markOf(to),
    open = new Map(),
    times = [],
    {events} = model;
  const first = firstAtLeast(events.time, begin);
  for (let i = first; i < events.count && events.time[i] < end; ++i) {
    if (i % 8192 === 0) yield;
    const object = aboutOf(i);
    if (object && items.ofObject[object] < 0) continue;
    if (isTo(i) && open.has(object)) {
      times.push(events.time[i] - open.get(object));
      open.delete(object);
    }
    if (isFrom(i) && !open.has(object)) open.set(object, events.time[i]);
  }
  return {times: Float64Array.from(times).sort(), open: open.size};
}

// The value below which (part) of sorted (times) are: the nearest rank.
const percentile = (times, part) =>
  times[Math.max(0, Math.ceil(part * times.length) - 1)];

// Events by kind in [begin, end) of what is shown.
function* countEvents(begin, end) {
  const counts = new Float64Array(EVENT_NAMES.length),
    {events} = model;
  for (let i = firstAtLeast(events.time, begin); i < events.count; ++i) {
    if (events.time[i] >= end) break;
    if (i % 8192 === 0) yield;
    const object = aboutOf(i);
    if (object && !isLoop(object) && items.ofObject[object] < 0) continue;
    ++counts[events.kind[i]];
  }
  return counts;
}

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
