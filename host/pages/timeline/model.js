// SPDX-License-Identifier: Apache-2.0
// What the payload holds, in typed arrays: objects, and what happened to them.
// docs/timeline.md has the format; host/tasks makes it of the events.
//
// Objects count from 1; 0 is none; those of a trace begin with (first). A part
// is a CPU of a trace: its event loop is an object, and so is each vector of
// its interrupts, after all others (head.vectors).
// Times are clocks since the first event of all traces.

// How an object ended, by TASKS_END.
const STATES = [
  'still pending',
  'resolved',
  'failed',
  'cancelled',
  'freed',
  'merged',
  'ended, how is unknown',
  'unknown',
];

// Arrows by what they say: edges, a read of what failed, and a packet, which is
// from another trace.
const ARROWS = [...Object.keys(TASKS_EDGE_KIND), 'failed_read', 'packet'];
const ARROW = Object.fromEntries(ARROWS.map((name, i) => [name, i]));

const arrowWords = (name) => name.replace('_', ' ');

let model = null;

// Those that this page may have: packets go between traces.
const arrowNames = () =>
  model.head.traces.length > 1
    ? ARROWS
    : ARROWS.filter((name) => name !== 'packet');

const numbersOf = (Type, list) => Type.from(list);

// The numbers of the parts of (trace), and whether there are several.
const partsOf = ({parts}, trace) =>
  [...parts.keys()].filter((part) => parts[part].trace === trace);
const hasCpus = (trace) => partsOf(model.head, trace).length > 1;

// begin and end of records that have from and length.
function intervalsOf(columns, name) {
  const begin = columns.changes(name + '.from'),
    end = columns.plain(name + '.length');
  for (let i = 0; i < begin.length; ++i) end[i] += begin[i];
  return {count: begin.length, begin, end};
}

const SEEN = {creation: 1, end: 2, rests: 4};

// The numbers of a column go to those objects for which (has) is true.
function toSome(count, column, has) {
  const all = new Float64Array(count);
  for (let o = 1, at = 0; o < count; ++o) if (has(o)) all[o] = column[at++];
  return all;
}

// Beginnings, ends and creators that edges have are not in these columns.
function objectsOf(columns, edges) {
  const seen = columns.plain('object.seen'),
    own = seen.length + 1, // the others are vectors
    count = own + columns.head.vectors.length;
  const of = (Type, list) => {
    const all = new Type(count);
    all.set(list, 1);
    return all;
  };
  const plain = (name) => of(Int32Array, columns.plain('object.' + name));
  const noCreation = (o) => o < own && !(seen[o - 1] & SEEN.creation),
    noEnd = (o) => o < own && !(seen[o - 1] & SEEN.end);
  const objects = {
    count,
    begin: toSome(count, columns.changes('object.begin'), noCreation),
    end: toSome(count, columns.plain('object.life'), noEnd),
    creator: toSome(count, columns.plain('object.creator'), noCreation),
    type: of(Uint8Array, columns.plain('object.kind')),
    state: of(Uint8Array, columns.plain('object.ending')),
    trace: new Uint8Array(count),
    part: new Uint16Array(count),
    system: new Uint8Array(count),
    id: of(Int32Array, columns.changes('object.id')),
    site: plain('site'),
    label: plain('label'),
    why: plain('why'),
    become: plain('becomes'),
    rests: of(
      Uint8Array,
      seen.map((bits) => Number((bits & SEEN.rests) > 0)),
    ),
  };
  completeObjects(objects, edges, noCreation, noEnd);
  putInParts(objects, own, columns.head, columns.plain('object.part'));
  for (const [i, [part, vector]] of columns.head.vectors.entries())
    addVector(objects, own + i, columns.head, part, vector);
  return objects;
}

// The column has the parts of the objects of traces with several, in order.
function putInParts(objects, own, head, column) {
  const {traces, parts} = head;
  let at = 0;
  for (const [trace, {first}] of traces.entries()) {
    const next = traces[trace + 1]?.first || own,
      list = partsOf(head, trace);
    objects.system[first] = SYSTEM.loop;
    objects.system[first + 1] = SYSTEM.nobody;
    objects.trace.fill(trace, first, next);
    objects.part.fill(list[0], first, next);
    if (list.length === 1) continue;
    for (let o = first; o < next; ++o) objects.part[o] = column[at++];
  }
  for (const {loop} of parts) if (loop) objects.system[loop] = SYSTEM.loop;
}

// What is no object of the program: event loops, nobody (TASKS_NOBODY), and the
// vectors of interrupts, which last as long as the loop of their CPU.
const SYSTEM = {loop: 1, nobody: 2, vector: 3};

function addVector(objects, o, {traces, parts}, part, vector) {
  const {trace, loop} = parts[part],
    like = loop || traces[trace].first;
  objects.system[o] = SYSTEM.vector;
  objects.id[o] = vector;
  objects.part[o] = part;
  for (const name of ['begin', 'end', 'trace'])
    objects[name][o] = objects[name][like];
}

const ENDING = [ARROW.resolve, ARROW.fail, ARROW.cancel];

function completeObjects(objects, edges, noCreation, noEnd) {
  for (let i = 0; i < edges.time.length; ++i) {
    const o = edges.to[i];
    if (edges.kind[i] !== ARROW.create || noCreation(o)) continue;
    objects.begin[o] = edges.time[i];
    objects.creator[o] = edges.from[i];
  }
  for (let o = 1; o < objects.count; ++o) objects.end[o] += objects.begin[o];
  for (let i = 0; i < edges.time.length; ++i)
    if (ENDING.includes(edges.kind[i]) && !noEnd(edges.to[i]))
      objects.end[edges.to[i]] = edges.time[i];
}

// A span without a length lasts until the next one of its object, or its end.
function spansOf(columns, objects) {
  const begin = columns.changes('span.from'),
    length = columns.plain('span.length'),
    object = numbersOf(Int32Array, columns.changes('span.object')),
    until = objects.end.slice(),
    end = new Float64Array(begin.length);
  for (let i = begin.length - 1; i >= 0; --i) {
    end[i] = length[i] ? begin[i] + length[i] - 1 : until[object[i]];
    until[object[i]] = begin[i];
  }
  const state = numbersOf(Uint8Array, columns.plain('span.state'));
  return {
    count: begin.length,
    begin,
    end,
    object,
    state,
    part: partsOfSpans(columns, objects, object, state),
    what: numbersOf(Int32Array, columns.plain('span.other')),
    why: numbersOf(Int32Array, columns.plain('span.why')),
    stack: numbersOf(Int32Array, columns.plain('span.stack')),
  };
}

// Where each span was: if it ran, on which CPU. The column has those that ran,
// of traces with several CPUs.
function partsOfSpans(columns, objects, object, state) {
  const {head} = columns,
    several = head.traces.map((_, trace) => partsOf(head, trace).length > 1),
    column = columns.plain('span.part');
  let at = 0;
  return Uint16Array.from(object, (o, i) =>
    several[objects.trace[o]] && state[i] === TASKS_STATE.running
      ? column[at++]
      : objects.part[o],
  );
}

// Edges of the trace; (by) is the source of a signal, or why there was a wake.
function edgesOf(columns) {
  return {
    time: columns.changes('edge.time'),
    kind: numbersOf(Uint8Array, columns.plain('edge.kind')),
    from: numbersOf(Int32Array, columns.changes('edge.from')),
    to: numbersOf(Int32Array, columns.changes('edge.to')),
    by: numbersOf(Int32Array, columns.plain('edge.by')),
  };
}

// Arrows as they are drawn: a read is one from its source, and begins when the
// source ended.
function arrowsOf(edges, objects, irqs) {
  const count = edges.time.length;
  const arrows = {
    count,
    type: edges.kind.slice(),
    from: edges.from.slice(),
    to: edges.to.slice(),
    begin: edges.time.slice(),
    end: edges.time.slice(),
  };
  for (let i = 0; i < count; ++i) {
    const kind = edges.kind[i];
    if (kind === ARROW.read) {
      const source = edges.to[i];
      [arrows.from[i], arrows.to[i]] = [source, edges.from[i]];
      if (objects.state[source] !== TASKS_END.open)
        arrows.begin[i] = Math.min(objects.end[source], edges.time[i]);
      if (objects.state[source] === TASKS_END.failed)
        arrows.type[i] = ARROW.failed_read;
    } else if (edges.by[i]) {
      arrows.from[i] = edges.by[i];
    }
  }
  lengthenDefers(arrows, irqs);
  return arrows;
}

// What an interrupt leaves to an object is an arrow that ends when that runs.
// Sets (late): of each arrow, whether it ends later than its event.
function lengthenDefers(arrows, irqs) {
  const ran = new Map();
  arrows.late = new Uint8Array(arrows.count);
  for (let i = 0; i < irqs.count; ++i)
    if (irqs.ran[i] >= 0)
      ran.set(
        `${irqs.vector[i]} ${irqs.deferred[i]} ${irqs.to[i]}`,
        irqs.ran[i],
      );
  if (!ran.size) return;
  for (let i = 0; i < arrows.count; ++i) {
    if (arrows.type[i] !== ARROW.defer) continue;
    const end = ran.get(`${arrows.from[i]} ${arrows.begin[i]} ${arrows.to[i]}`);
    if (end === undefined) continue;
    arrows.end[i] = end;
    arrows.late[i] = 1;
  }
}

// Packets between traces.
const packetsOf = (columns) => ({
  type: ARROW.packet,
  begin: columns.changes('packet.sent'),
  end: columns.changes('packet.received'),
  from: columns.changes('packet.from'),
  to: columns.changes('packet.to'),
});

// From the interrupts that ended a loop's idleness to the loop.
function wakesOf({head, objects, irqs}) {
  const wakes = {type: ARROW.wake, begin: [], end: [], from: [], to: []};
  for (let i = 0; i < irqs.count; ++i) {
    const {loop} = head.parts[objects.part[irqs.vector[i]]];
    if (irqs.woke[i] < 0 || !loop) continue;
    wakes.begin.push(irqs.begin[i]);
    wakes.end.push(irqs.woke[i]);
    wakes.from.push(irqs.vector[i]);
    wakes.to.push(loop);
  }
  return wakes;
}

// Arrows with others, each a list of one type. They are in order of their ends.
function withArrows(arrows, others) {
  const lists = ['begin', 'end', 'from', 'to'],
    count = others.reduce((sum, {end}) => sum + end.length, arrows.count),
    all = {count, type: new Uint8Array(count)};
  all.type.set(arrows.type);
  for (const name of lists) {
    all[name] = new arrows[name].constructor(count);
    all[name].set(arrows[name]);
  }
  let at = arrows.count;
  for (const other of others) {
    for (const name of lists) all[name].set(other[name], at);
    all.type.fill(other.type, at, at + other.end.length);
    at += other.end.length;
  }
  const order = orderOfEnds(all.end, arrows);
  for (const name of ['type', ...lists])
    all[name] = all[name].map((_, i, list) => list[order[i]]);
  return all;
}

// Numbers of arrows by their ends. Of (arrows), the first ones, those that are
// not late are in order already, where there is one trace: then only the others
// are sorted, for there may be a million arrows.
function orderOfEnds(end, {count, late}) {
  const byEnd = (a, b) => end[a] - end[b] || a - b,
    order = new Uint32Array(end.length),
    others = [];
  let kept = 0;
  for (let i = 0; i < end.length; ++i) {
    if (i >= count || late[i] || (kept && end[order[kept - 1]] > end[i]))
      others.push(i);
    else order[kept++] = i;
  }
  others.sort(byEnd);
  // from the back, where there is room
  for (let at = order.length - 1; others.length; --at)
    order[at] =
      kept && byEnd(order[kept - 1], others.at(-1)) > 0
        ? order[--kept]
        : others.pop();
  return order;
}

// Steps of counters: what (name) had before and has from (time) on, and which
// object changed it: of an interrupt, its vector.
function stepsOf(columns) {
  const time = columns.changes('counter.time'),
    name = columns.plain('counter.name'),
    value = signed(columns.plain('counter.value'), false),
    object = numbersOf(Int32Array, columns.plain('counter.object')),
    before = new Float64Array(time.length),
    last = new Map();
  for (let i = 0; i < time.length; ++i) {
    before[i] = last.get(name[i]) || 0;
    last.set(name[i], value[i]);
  }
  return {count: time.length, time, name, value, before, object};
}

// Series of values by their names, each of one trace. Those of the same text
// have the same number in all traces.
function countersOf(columns, {count, time, name, value}) {
  const trace = columns.plain('counter.trace'),
    series = new Map();
  for (let i = 0; i < count; ++i) {
    if (!series.has(name[i]))
      series.set(name[i], {time: [], value: [], trace: trace[i]});
    series.get(name[i]).time.push(time[i]);
    series.get(name[i]).value.push(value[i]);
  }
  const texts = new Map();
  for (const [key, one] of series) {
    one.count = one.time.length;
    one.text = columns.head.names[key];
    if (!texts.has(one.text)) texts.set(one.text, texts.size);
    one.number = texts.get(one.text);
  }
  return series;
}

// Interrupts: the object of the vector, and what was interrupted; when work was
// left to (to), when that ran next, and when the loop went on whose idleness it
// ended; -1 = never.
function irqsOf(columns) {
  const irqs = {
    ...intervalsOf(columns, 'irq'),
    vector: columns.plain('irq.vector'),
    in: columns.plain('irq.in'),
    to: columns.plain('irq.to'),
    deferred: columns.plain('irq.deferred'),
    ran: columns.plain('irq.ran'),
    woke: columns.plain('irq.woke'),
  };
  for (const times of [irqs.deferred, irqs.ran, irqs.woke])
    for (let i = 0; i < irqs.count; ++i)
      times[i] = times[i] ? irqs.begin[i] + times[i] - 1 : -1;
  return columns.head.traces.length > 1 ? sortedByBegin(irqs) : irqs;
}

// Those of several traces are one after the other.
function sortedByBegin({count, ...lists}) {
  const order = Uint32Array.from(lists.begin.keys()).sort(
    (a, b) => lists.begin[a] - lists.begin[b] || a - b,
  );
  const sorted = {count};
  for (const [name, list] of Object.entries(lists))
    sorted[name] = list.map((_, i) => list[order[i]]);
  return sorted;
}

// A list of intervals for each part; (partOf) interval i, -1 = left out.
function byPart({head}, intervals, partOf) {
  const lists = head.parts.map(() => ({count: 0, begin: [], end: []}));
  for (let i = 0; i < intervals.count; ++i) {
    const list = lists[partOf(i)];
    if (!list) continue;
    list.begin.push(intervals.begin[i]);
    list.end.push(intervals.end[i]);
    ++list.count;
  }
  return lists;
}

function intervalsByPart(columns, name) {
  const parts = columns.plain(name + '.part');
  return byPart(columns, intervalsOf(columns, name), (i) => parts[i]);
}

// Spans in which a loop waited: it was idle.
function idlesOf({head, objects, spans}) {
  const isIdle = (i) =>
    spans.state[i] === TASKS_STATE.waiting && isLoop(spans.object[i]);
  const partOf = (i) => (isIdle(i) ? objects.part[spans.object[i]] : -1);
  return byPart({head}, spans, partOf);
}

async function loadModel(columns) {
  const {head} = columns;
  const texts = stringsOf(columns, 'word.bytes', 'word.text');
  head.names = texts.slice(0, texts.length / 2);
  head.files = texts.slice(texts.length / 2);
  head.lines = columns.plain('word.line');
  const edges = edgesOf(columns);
  await pause();
  const objects = objectsOf(columns, edges);
  await pause();
  const spans = spansOf(columns, objects);
  await pause();
  const irqs = irqsOf(columns);
  model = {head, objects, spans, edges, irqs, lastTime: head.clocks};
  model.arrows = withArrows(arrowsOf(edges, objects, irqs), [
    packetsOf(columns),
    wakesOf(model),
  ]);
  model.labels = {
    time: columns.changes('label.time'),
    object: numbersOf(Int32Array, columns.plain('label.object')),
    name: numbersOf(Int32Array, columns.plain('label.name')),
  };
  model.labels.count = model.labels.time.length;
  await pause();
  model.steps = stepsOf(columns);
  model.counters = countersOf(columns, model.steps);
  model.pauses = intervalsByPart(columns, 'pause');
  model.losses = intervalsByPart(columns, 'loss');
  model.stolen = intervalsByPart(columns, 'stolen');
  model.idles = idlesOf(model);
}

const isSystem = (o) => model.objects.system[o] > 0;
const isLoop = (o) => model.objects.system[o] === SYSTEM.loop;
const isVector = (o) => model.objects.system[o] === SYSTEM.vector;

// ---- spans, arrows and labels by object, and what ran by part: made once.

const by = {
  span: null, // of spans, by object, as byNumber() makes it
  out: null, // of arrows that leave an object
  into: null, // of arrows that reach it
  irq: null, // of interrupts, by the object of their vector
  label: null,
  step: null,
  runs: [], // of each part: run spans in order of time
};

function* makeIndexes() {
  const {objects, spans, arrows, labels, irqs} = model;
  by.span = yield* byNumber(spans.object, objects.count);
  by.out = yield* byNumber(arrows.from, objects.count);
  by.into = yield* byNumber(arrows.to, objects.count);
  by.irq = yield* byNumber(irqs.vector, objects.count);
  by.label = yield* byNumber(labels.object, objects.count);
  by.step = yield* byNumber(model.steps.object, objects.count);
  by.runs = model.head.parts.map(() => []);
  for (let i = 0; i < spans.count; ++i)
    if (spans.state[i] === TASKS_STATE.running) by.runs[spans.part[i]].push(i);
}

// What (index) has of (object); and (what) called with each of it.
const listOfObject = ({from, list}, object) =>
  list.subarray(from[object], from[object + 1]);
const hasSpans = (object) => by.span.from[object] < by.span.from[object + 1];
function each({from, list}, object, what) {
  for (let i = from[object]; i < from[object + 1]; ++i) what(list[i]);
}

// The first of (list), indexes of (column) in rising order, that is at least
// (value).
const firstOf = (list, column, value) =>
  firstThat(0, list.length, (i) => column[list[i]] >= value);
