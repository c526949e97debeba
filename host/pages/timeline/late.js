// SPDX-License-Identifier: Apache-2.0
// Why was it late: an object's life, split into what it did and what held it.
//
//   running            it ran itself
//   ready              it could have run; the loop was held by somebody
//   paused             others ran inside it, before they first waited
//   waiting            for an object or a device
//   stolen             the hypervisor did not run the guest
//
// A promise does not run. Until it ends, the object that ends it counts in its
// place; from then on it is ready until somebody reads it.

const PART = {
  run: 'running',
  paused: 'paused',
  ready: 'ready',
  wait: 'waiting',
  lost: 'unknown',
};

// What objects wait for that end by something outside of the program.
const OUTSIDE = {
  io: 'the device',
  timer: 'the time',
  sleep: 'the time',
  connection: 'the network',
};
const outsideOf = (object) =>
  OUTSIDE[model.head.types[model.objects.type[object]]] || '';

// Whether (object) is there in the end and does not only rest.
const isStuck = (object) =>
  model.objects.state[object] === TASKS_END.open &&
  !model.objects.rests[object];

// Sums parts of the same kind and cause.
class Split {
  constructor() {
    this.parts = new Map();
    this.whole = 0;
  }
  // (of): whose part it is, where there are several
  add(kind, cause, text, clocks, of = 0) {
    if (!(clocks > 0)) return;
    const key = `${kind} ${cause} ${of} ${text}`;
    const part = this.parts.get(key) || {kind, cause, of, text, clocks: 0};
    part.clocks += clocks;
    this.parts.set(key, part);
    this.whole += clocks;
  }
  list() {
    return [...this.parts.values()].sort((a, b) => b.clocks - a.clocks);
  }
}

// What (object) does that has not ended, and since when; for how long, in
// words: "pending 6.0 s".
function standingOf(object) {
  const {objects, spans} = model,
    end = objects.end[object],
    last = listOfObject(by.span, object).at(-1);
  let state = 'pending',
    since = objects.begin[object];
  if (last !== undefined) {
    since = spans.end[last];
    if (since >= end) {
      state = Object.keys(TASKS_STATE)[spans.state[last]];
      since = spans.begin[last];
    }
  }
  return {since, text: `${state} ${clocksText(end - since)}`};
}

const stuckFor = (object) =>
  model.objects.end[object] - standingOf(object).since;

// How (object) ended, or what it does.
const stateText = (object) =>
  model.objects.state[object] === TASKS_END.open
    ? standingOf(object).text
    : STATES[model.objects.state[object]];

const overlap = (from, to, begin, end) =>
  Math.min(to, end) - Math.max(from, begin);

function stolenIn(part, from, to) {
  const stolen = model.stolen[part];
  let sum = 0;
  for (let i = firstAtLeast(stolen.end, from); i < stolen.count; ++i) {
    if (stolen.begin[i] >= to) break;
    sum += Math.max(0, overlap(from, to, stolen.begin[i], stolen.end[i]));
  }
  return sum;
}

// Ready, from (from) to (to): who held the loop of its CPU.
function splitReady(split, object, from, to) {
  const {spans, objects} = model,
    runs = by.runs[objects.part[object]];
  let left = to - from;
  let at = Math.max(0, firstOf(runs, spans.begin, from) - 1);
  for (; at < runs.length; ++at) {
    const i = runs[at];
    if (spans.begin[i] >= to) break;
    const clocks = overlap(from, to, spans.begin[i], spans.end[i]);
    if (clocks <= 0 || spans.object[i] === object) continue;
    split.add(PART.ready, spans.object[i], '', clocks);
    left -= clocks;
  }
  split.add(PART.ready, 0, 'the event loop itself', left);
}

function splitSpans(split, object, from, to) {
  const {spans, head} = model;
  let at = from;
  each(by.span, object, (i) => {
    const begin = Math.max(at, spans.begin[i]),
      end = Math.min(to, spans.end[i]);
    if (end <= begin) return;
    split.add(PART.lost, 0, 'not recorded', begin - at);
    at = end;
    const state = spans.state[i],
      clocks = end - begin,
      why = spans.why[i] ? head.names[spans.why[i]] : '';
    if (state === TASKS_STATE.running) split.add(PART.run, object, '', clocks);
    else if (state === TASKS_STATE.paused)
      split.add(PART.paused, object, '', clocks);
    else if (state === TASKS_STATE.unknown)
      split.add(PART.lost, 0, 'events are missing', clocks);
    else if (state === TASKS_STATE.ready) splitReady(split, object, begin, end);
    else split.add(PART.wait, spans.what[i], why, clocks);
  });
  return at;
}

const ENDS = [ARROW.resolve, ARROW.fail],
  READS = [ARROW.read, ARROW.failed_read];

// Who ended a promise, and when it was first read.
function endOfPromise(object) {
  const {type, from, end} = model.arrows,
    isOneOf = (types) => (i) => types.includes(type[i]);
  const ending = listOfObject(by.into, object).findLast(isOneOf(ENDS)),
    reading = listOfObject(by.out, object).find(isOneOf(READS));
  return {
    resolver: ending === undefined ? 0 : from[ending],
    read: reading === undefined ? -1 : end[reading],
  };
}

function splitPromise(split, object) {
  const {objects} = model,
    begin = objects.begin[object],
    end = objects.end[object];
  const {resolver, read} = endOfPromise(object);
  const runs = resolver && !outsideOf(object) && hasSpans(resolver);
  let at = begin;
  if (runs && !isSystem(resolver)) at = splitSpans(split, resolver, begin, end);
  const cause = outsideOf(object) ? 0 : resolver;
  split.add(PART.wait, cause, waitText(object, cause), end - at);
  if (read > end) splitReady(split, object, end, read);
}

function waitText(object, resolver) {
  if (model.objects.state[object] === TASKS_END.open)
    return 'its end, which never came';
  if (resolver && !isSystem(resolver)) return '';
  return outsideOf(object) || 'something outside';
}

// The split of an object's life: {parts, whole, stolen}.
function splitOf(object) {
  const {objects} = model,
    split = new Split();
  const begin = objects.begin[object],
    end = objects.end[object];
  if (hasSpans(object)) {
    const at = splitSpans(split, object, begin, end);
    if (objects.state[object] === TASKS_END.open)
      split.add(PART.lost, 0, 'not recorded', end - at);
  } else splitPromise(split, object);
  const stolen = stolenIn(objects.part[object], begin, end);
  return {parts: split.list(), whole: split.whole, stolen};
}

// The same as sums over many objects, by site: what the table shows.
function* splitOfAll(list) {
  const sums = new Map();
  for (const [n, object] of list.entries()) {
    const key = alikeKey(object);
    // (open): the longest that one has been in its last state
    const none = {object, count: 0, stolen: 0, open: 0},
      sum = sums.get(key) || none,
      {parts, stolen} = splitOf(object);
    ++sum.count;
    for (const kind of Object.values(PART)) sum[kind] ||= 0;
    for (const part of parts) sum[part.kind] += part.clocks;
    sum.stolen += stolen;
    if (isStuck(object)) sum.open = Math.max(sum.open, stuckFor(object));
    sums.set(key, sum);
    if (n % 256 === 0) yield;
  }
  return [...sums.values()];
}

// ---- the critical path: from a moment of an object back to its causes, each
// step with the time that passed in it.
//
//   it ran            before that it was ready: who woke it
//   it was ready      since somebody woke it
//   it waited         for a promise: who resolved it; or for a device
//   a promise ended   since an object resolved it; or the outside did
//   it has not ended  what it waits for has not, either: whoever waits for
//                     nothing, or for one of those before, is the cause
//
// It ends at the beginning of the trace, or where nothing is known.

const PATH_MAX = 2000; // steps

function spanAt(object, time) {
  const {begin} = model.spans,
    {from, list} = by.span,
    [first, last] = [from[object], from[object + 1]];
  const next = firstThat(first, last, (i) => begin[list[i]] >= time);
  return next > first ? list[next - 1] : -1;
}

// The last arrow of one of (types) that reaches (object) at (time) or before.
function lastInto(object, time, types) {
  const {end, type} = model.arrows,
    fits = (i) => end[i] <= time && types.includes(type[i]);
  return listOfObject(by.into, object).findLast(fits) ?? -1;
}

// The interrupt that left work to (object) at (time) or just before, -1 = none.
function irqBefore(object, time) {
  const {irqs} = model;
  for (let i = firstAtLeast(irqs.begin, time) - 1; i >= 0; --i) {
    if (irqs.to[i] === object) return i;
    if (time - irqs.begin[i] > model.head.clock_hz / 10) return -1;
  }
  return -1;
}

// What (object), which has not ended, waits for in the end that has not,
// either; 0 = nothing.
function openCause(object) {
  const {arrows, objects} = model,
    span = spanAt(object, Infinity);
  if (span >= 0 && model.spans.state[span] === TASKS_STATE.waiting) {
    const what = lastOf(model.spans.what[span]);
    if (what && objects.state[what] === TASKS_END.open) return what;
  }
  if (span >= 0 && model.spans.state[span] !== TASKS_STATE.waiting) return 0;
  const looked = listOfObject(by.out, object).findLast(
    (i) =>
      arrows.type[i] === ARROW.try_read &&
      objects.state[lastOf(arrows.to[i])] === TASKS_END.open,
  );
  return looked === undefined ? 0 : lastOf(arrows.to[looked]);
}

// What (object) is after all that it was merged into.
function lastOf(object) {
  const {become} = model.objects;
  for (let n = 0; become[object] && n < PATH_MAX; ++n) object = become[object];
  return object;
}

// The steps from the end of the trace back, of an object that has not ended:
// first down to what all of it waits for.
function openSteps(object, steps) {
  const {objects} = model,
    end = objects.end[object],
    seen = new Set();
  let cause = openCause(object);
  while (cause && !seen.has(cause)) {
    seen.add(object);
    [object, cause] = [cause, openCause(cause)];
  }
  const begin = standingOf(object).since,
    text = openText(object, cause);
  steps.push({object, begin, end, kind: PART.wait, cause, text, irq: -1});
  return [hasSpans(object) ? object : objects.creator[object], begin];
}

function openText(object, cause) {
  if (cause) return 'in a circle';
  const span = spanAt(object, Infinity);
  if (span >= 0 && model.spans.state[span] === TASKS_STATE.waiting)
    return model.head.names[model.spans.why[span]] || 'something outside';
  return outsideOf(object) || 'its end, which never came';
}

// One step back from (object) at (time): the step, and where it leads.
function stepOfRunner(object, time, span) {
  const {spans, objects} = model,
    begin = spans.begin[span];
  const step = {object, begin, end: time, kind: PART.run, text: ''};
  if (spans.end[span] < time) {
    step.begin = spans.end[span];
    step.kind = PART.wait;
    step.text = 'a reason to run';
    return [step, object, step.begin];
  }
  if (spans.state[span] === TASKS_STATE.ready) {
    step.kind = PART.ready;
    const cause = spans.what[span];
    step.cause = cause;
    return [step, cause || loopOfObject(object), begin];
  }
  if (spans.state[span] === TASKS_STATE.waiting) {
    step.kind = PART.wait;
    const what = spans.what[span];
    step.cause = what;
    step.text = what ? '' : model.head.names[spans.why[span]] || '';
    return [step, what && objects.end[what] >= begin ? what : object, begin];
  }
  return [step, object, begin];
}

const loopOfObject = (object) =>
  model.head.parts[model.objects.part[object]].loop;

function stepOfPromise(object, time) {
  const {objects, arrows} = model,
    begin = objects.begin[object];
  const end = lastInto(object, time, ENDS);
  if (end >= 0) {
    const resolver = arrows.from[end],
      at = arrows.end[end];
    const step = {object, begin: at, end: time, kind: PART.ready, text: ''};
    if (resolver && !isSystem(resolver) && !outsideOf(object) && at > begin)
      return [step, resolver, at];
    const text = outsideOf(object) || 'something outside';
    const outside = {object, begin, end: time, kind: PART.wait, text};
    return [outside, objects.creator[object], begin];
  }
  const text = hasSpans(object) ? 'its first run' : 'its end';
  const step = {object, begin, end: time, kind: PART.wait, text};
  return [step, objects.creator[object], begin];
}

// Steps from (object) at (time) back, the latest first.
function criticalPath(object, time) {
  const steps = [],
    {objects, spans} = model;
  const isOpen =
    objects.state[object] === TASKS_END.open && time === objects.end[object];
  const last = spanAt(object, Infinity);
  const hasStopped =
    last < 0 ||
    spans.state[last] === TASKS_STATE.waiting ||
    spans.end[last] < time;
  if (object && isOpen && hasStopped) [object, time] = openSteps(object, steps);
  while (object && time > 0 && steps.length < PATH_MAX) {
    if (isSystem(object)) break;
    const span = spanAt(object, time);
    const [step, next, at] =
      span >= 0
        ? stepOfRunner(object, time, span)
        : stepOfPromise(object, time);
    step.irq = irqBefore(object, time);
    if (step.end > step.begin) steps.push(step);
    if (at >= time && next === object) break;
    if (at > time) break;
    [object, time] = [next, at];
  }
  return steps;
}

// The shares of a path's steps by object's site and kind, the largest first.
function sharesOfPath(steps) {
  const split = new Split();
  for (const step of steps)
    split.add(
      step.kind,
      step.cause && step.cause !== step.object ? step.cause : 0,
      step.text,
      step.end - step.begin,
      step.object,
    );
  return {parts: split.list(), whole: split.whole};
}
