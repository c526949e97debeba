// SPDX-License-Identifier: Apache-2.0
// What each kind of event does to the model (objects.js).

// Who does it: the interrupt's stream has no object, so the loop stands for it.
const actor = (model) => model.real(model.at.current) || loopOf(model);
const loopOf = (model) => model.head.streams[model.atNumber].loop;

function act(model, time) {
  model.leaveIdle(time);
  const by = model.mention(actor(model), time);
  return by;
}

function created(model, object, by, i, time) {
  const {objects, events} = model;
  if (objects.begin[object] >= 0) return; // only the first counts
  objects.begin[object] = time;
  objects.last[object] = time;
  objects.creator[object] = by;
  objects.type[object] = events.type[i];
  objects.site[object] = events.name[i];
  objects.stream[object] = model.atNumber;
}

function ended(model, i, time, state) {
  const by = act(model, time),
    object = model.real(model.events.object[i]);
  model.mention(object, time);
  model.finish(object, state, time);
  return [by, object];
}

// What (by) did first decides whether it may be drawn from there on only.
function firstAct(model, by, time, source) {
  const {objects} = model;
  if (objects.acted[by]) return;
  objects.acted[by] = 1;
  if (!source) return;
  objects.firstRead[by] = time;
  objects.firstSource[by] = source;
}

const HANDLE = {
  stream(model, i) {
    model.atNumber = model.events.name[i];
    model.at = model.streams[model.atNumber];
  },

  create(model, i, time) {
    const by = act(model, time),
      object = model.events.object[i];
    firstAct(model, by, time, 0);
    created(model, object, by, i, time);
    model.arrow(ARROW.create, by, object, time, time);
  },

  alive(model, i) {
    const {events} = model;
    created(model, events.object[i], events.other[i], i, 0);
  },

  read(model, i, time) {
    const by = act(model, time),
      {objects} = model,
      source = model.mention(model.real(model.events.object[i]), time);
    firstAct(model, by, time, source);
    const failed = objects.state[source] === ST.failed;
    const ready = objects.state[source] === ST.open ? time : objects.end[source];
    model.arrow(
      failed ? ARROW.failed_read : ARROW.read,
      source,
      by,
      Math.min(ready, time),
      time,
    );
  },

  try_read(model, i, time) {
    const by = act(model, time),
      {objects, at} = model,
      source = model.mention(model.real(model.events.object[i]), time);
    objects.tried[source] = Math.min(objects.tried[source], time);
    at.tried = source;
    model.arrow(ARROW.try_read, by, source, time, time);
  },

  resolve(model, i, time) {
    const [by, object] = ended(model, i, time, ST.resolved);
    firstAct(model, by, time, 0);
    model.arrow(ARROW.resolve, by, object, time, time);
  },

  fail(model, i, time) {
    const [by, object] = ended(model, i, time, ST.failed);
    firstAct(model, by, time, 0);
    model.objects.why[object] = model.events.name[i];
    model.arrow(ARROW.fail, by, object, time, time);
  },

  cancel(model, i, time) {
    const [by, object] = ended(model, i, time, ST.cancelled);
    model.arrow(ARROW.fail, by, object, time, time);
  },

  gone(model, i, time) {
    ended(model, i, time, ST.gone);
  },

  become(model, i, time) {
    const {objects, events} = model,
      object = model.real(events.object[i]),
      other = model.real(events.other[i]);
    act(model, time);
    if (object === other) return;
    model.mention(object, time);
    model.mention(other, time);
    model.finish(object, ST.merged, time);
    objects.become[object] = other;
    if (model.at.current === object) {
      model.closeSpan(object, time);
      model.at.current = other;
      model.openSpan(other, SPAN.run, time, 0, 0);
    }
  },

  signal(model, i, time) {
    const {events} = model;
    act(model, time);
    model.arrow(
      ARROW.signal,
      model.mention(model.real(events.object[i]), time),
      model.mention(model.real(events.other[i]), time),
      time,
      time,
    );
  },

  label(model, i, time) {
    const object = model.mention(model.real(model.events.object[i]), time);
    model.objects.label[object] = model.events.name[i];
    if (!model.objects.acted[object]) model.objects.acted[object] = 1;
    model.labels.add(object, time, model.events.name[i]);
  },

  counter(model, i, time) {
    const {counters, events} = model,
      name = events.name[i];
    if (!counters.has(name))
      counters.set(
        name,
        new Records({time: Float64Array, value: Float64Array}),
      );
    counters.get(name).add(time, events.value[i]);
  },

  switch(model, i, time) {
    const {at} = model,
      to = model.real(model.events.object[i]);
    model.leaveIdle(time);
    if (at.current === to) return;
    if (at.current) leave(model, at.current, time);
    at.current = to;
    at.tried = 0;
    if (!to) return;
    model.mention(to, time);
    model.closeSpan(to, time);
    model.openSpan(to, SPAN.run, time, 0, 0);
  },

  wake(model, i, time) {
    const {events, objects} = model,
      by = act(model, time),
      object = model.mention(model.real(events.object[i]), time),
      cause = model.real(events.other[i]);
    const open = objects.span[object];
    const runs = open >= 0 && model.spans.state.all[open] === SPAN.run;
    if (!runs && objects.state[object] === ST.open) {
      model.closeSpan(object, time);
      model.openSpan(object, SPAN.ready, time, 0, cause);
    }
    model.arrow(ARROW.wake, cause || by, object, time, time);
  },

  suspend(model, i, time) {
    const {at, events} = model;
    if (at.current && at.current !== loopOf(model)) {
      at.suspended = {why: events.name[i], what: at.tried};
      return;
    }
    model.leaveIdle(time);
    at.idleSince = time;
  },

  pause(model, i, time) {
    const {events} = model;
    model.pauses.add(
      model.atNumber,
      time - events.value[i],
      time,
      events.name[i],
    );
  },

  irq_enter(model, i, time) {
    const {at, irqs} = model;
    at.irqs.push(irqs.add(model.atNumber, model.events.name[i], time, -1, 0, 0));
  },

  irq_exit(model, i, time) {
    const irq = model.at.irqs.pop();
    if (irq === undefined) return;
    model.irqs.end.all[irq] = time;
    model.at.served = irq;
  },

  defer(model, i, time) {
    const {at, irqs, events} = model,
      object = model.mention(model.real(events.object[i]), time),
      irq = at.irqs.length ? at.irqs[at.irqs.length - 1] : -1;
    if (irq >= 0) {
      irqs.to.all[irq] = object;
      irqs.deferred.all[irq] = time;
    }
    model.arrow(ARROW.defer, loopOf(model), object, time, time);
  },

  lost(model, i, time) {
    model.lose(time, model.events.value[i]);
  },

  stolen(model, i, time) {
    model.stolen.add(model.atNumber, time - model.events.value[i], time);
  },
};

// (object) does not run any more: it waits, if it has not ended.
function leave(model, object, time) {
  const {at, objects} = model;
  model.closeSpan(object, time);
  const {why, what} = at.suspended || {why: 0, what: at.tried};
  at.suspended = null;
  objects.last[object] = time;
  if (objects.state[object] === ST.open && object !== loopOf(model))
    model.openSpan(object, SPAN.wait, time, why, what);
}

const HANDLERS = EVENT_NAMES.map((name) => HANDLE[name]);
