// SPDX-License-Identifier: Apache-2.0
// The critical path: from a moment of an object back to its causes, each step
// with the time that passed in it.
//
//   it ran            before that it was ready: who woke it
//   it was ready      since somebody woke it
//   it waited         for a promise: who resolved it; or for a device
//   a promise ended   since an object resolved it; or the outside did
//   it has not ended  what it waits for has not, either: whoever waits for
//                     nothing, or for one of those before, is the cause
//
// The path ends at the beginning of the trace, where nothing is known, or after
// PATH_MAX steps.

const PATH_MAX = 2000;

function spanAt(object, time) {
  const {begin} = model.spans,
    {from, list} = by.span,
    [first, last] = [from[object], from[object + 1]];
  const next = firstThat(first, last, (i) => begin[list[i]] >= time);
  return next > first ? list[next - 1] : -1;
}

// The last arrow of one of (types) that reaches (object) at (time) or before.
function lastInto(object, time, types) {
  const {arrows} = model,
    {from, list} = by.into;
  for (let at = from[object + 1] - 1; at >= from[object]; --at) {
    const i = list[at];
    if (arrows.end[i] <= time && types.includes(arrows.type[i])) return i;
  }
  return -1;
}

const ENDS = [ARROW.resolve, ARROW.fail];

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
  let cause = 0;
  each(by.out, object, (i) => {
    const to = lastOf(arrows.to[i]);
    if (
      arrows.type[i] === ARROW.try_read &&
      objects.state[to] === TASKS_END.open
    )
      cause = to;
  });
  return cause;
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
    isRunner = by.span.from[object] < by.span.from[object + 1];
  steps.push({
    object,
    begin,
    end,
    kind: PART.wait,
    cause,
    text: openText(object, cause),
    irq: -1,
  });
  return isRunner ? [object, begin] : [objects.creator[object], begin];
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

const loopOfObject = (object) => model.head.loops[model.objects.trace[object]];

function stepOfPromise(object, time) {
  const {objects, arrows} = model,
    begin = objects.begin[object];
  const end = lastInto(object, time, ENDS);
  if (end >= 0) {
    const resolver = arrows.from[end],
      at = arrows.end[end];
    const step = {object, begin: at, end: time, kind: PART.ready, text: ''};
    if (resolver && !isLoop(resolver) && !outsideOf(object) && at > begin)
      return [step, resolver, at];
    const outside = {
      object,
      begin,
      end: time,
      kind: PART.wait,
      text: outsideOf(object) || 'something outside',
    };
    return [outside, objects.creator[object], begin];
  }
  const runs = by.span.from[object] < by.span.from[object + 1],
    text = runs ? 'its first run' : 'its end';
  const step = {object, begin, end: time, kind: PART.wait, text};
  return [step, objects.creator[object], begin];
}

// Steps from (object) at (time) back, the latest first.
function criticalPath(object, time) {
  const steps = [],
    {objects, spans} = model;
  const span = object ? spanAt(object, Infinity) : -1;
  if (
    object &&
    objects.state[object] === TASKS_END.open &&
    time === objects.end[object] &&
    (span < 0 ||
      spans.state[span] === TASKS_STATE.waiting ||
      spans.end[span] < time)
  )
    [object, time] = openSteps(object, steps);
  while (object && time > 0 && steps.length < PATH_MAX) {
    const irq = irqBefore(object, time);
    const span = spanAt(object, time);
    let step, next, at;
    if (span >= 0 && !isLoop(object))
      [step, next, at] = stepOfRunner(object, time, span);
    else if (!isLoop(object)) [step, next, at] = stepOfPromise(object, time);
    else break;
    step.irq = irq;
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
