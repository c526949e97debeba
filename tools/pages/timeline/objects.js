// SPDX-License-Identifier: Apache-2.0
// Objects, and what became of them: one pass over the events.

const STATES = [
  'not ended',
  'resolved',
  'failed',
  'cancelled',
  'freed',
  'merged',
];
const ST = {open: 0, resolved: 1, failed: 2, cancelled: 3, gone: 4, merged: 5};

// What an object does during a span of its life.
const SPAN = {run: 0, ready: 1, wait: 2};

// What an arrow says; the order in which they are drawn.
const ARROWS = [
  'create',
  'try_read',
  'read',
  'failed_read',
  'resolve',
  'fail',
  'signal',
  'wake',
  'defer',
];
const ARROW = Object.fromEntries(ARROWS.map((name, i) => [name, i]));

// Numbers in a typed array that grows.
class Numbers {
  constructor(Type) {
    this.all = new Type(1024);
    this.count = 0;
  }
  push(number) {
    if (this.count === this.all.length) {
      const more = new this.all.constructor(2 * this.count);
      more.set(this.all);
      this.all = more;
    }
    this.all[this.count++] = number;
  }
  done() {
    return this.all.subarray(0, this.count);
  }
}

// Records of several numbers, each in a column.
class Records {
  constructor(fields) {
    this.fields = Object.keys(fields);
    for (const field of this.fields) this[field] = new Numbers(fields[field]);
  }
  add(...values) {
    values.forEach((value, i) => this[this.fields[i]].push(value));
    return this.count++;
  }
  count = 0;
  done() {
    const columns = {count: this.count};
    for (const field of this.fields) columns[field] = this[field].done();
    return columns;
  }
}

function newObjects(count) {
  return {
    count,
    begin: new Float64Array(count).fill(-1), // -1: never mentioned
    end: new Float64Array(count),
    last: new Float64Array(count), // when it was mentioned last
    state: new Uint8Array(count),
    type: new Uint8Array(count),
    site: new Int32Array(count),
    label: new Int32Array(count),
    why: new Int32Array(count), // of a failure
    creator: new Int32Array(count),
    become: new Int32Array(count),
    stream: new Uint8Array(count),
    tried: new Float64Array(count).fill(Infinity), // first looked at in vain
    firstRead: new Float64Array(count).fill(-1), // of its own, if that is the
    firstSource: new Int32Array(count), // first that it did; and of what
    acted: new Uint8Array(count),
    span: new Int32Array(count).fill(-1), // the open one
  };
}

function newStream() {
  return {
    current: 0,
    irqs: [], // those being handled, as numbers of model.irqs
    idleSince: -1,
    tried: 0, // what the current object looked at in vain
    served: -1, // the last interrupt
  };
}

class Model {
  constructor(events, head) {
    this.events = events;
    this.head = head;
    this.objects = newObjects(head.objects + 1);
    this.streams = head.streams.map(newStream);
    this.at = this.streams[0];
    this.atNumber = 0;
    const F = Float64Array,
      I = Int32Array,
      B = Uint8Array;
    this.spans = new Records({
      object: I,
      state: B,
      begin: F,
      end: F,
      why: I,
      what: I,
    });
    this.arrows = new Records({type: B, from: I, to: I, begin: F, end: F});
    this.labels = new Records({object: I, time: F, name: I});
    this.idles = new Records({stream: B, begin: F, end: F});
    this.pauses = new Records({stream: B, begin: F, end: F, why: I});
    this.losses = new Records({stream: B, begin: F, end: F, count: F});
    this.stolen = new Records({stream: B, begin: F, end: F});
    this.irqs = new Records({
      stream: B,
      vector: I,
      begin: F,
      end: F,
      to: I,
      deferred: F,
    });
    this.counters = new Map(); // name: Records
    this.lastTime = 0;
  }

  // The object that (object) has been merged into, if it has.
  real(object) {
    const {become} = this.objects;
    while (become[object]) object = become[object];
    return object;
  }

  mention(object, time) {
    const {objects} = this;
    if (objects.begin[object] < 0) {
      objects.begin[object] = 0; // it was there before the trace began
      objects.stream[object] = this.atNumber;
    }
    objects.last[object] = time;
    return object;
  }

  openSpan(object, state, time, why, what) {
    const {objects, spans} = this;
    objects.span[object] = spans.add(object, state, time, -1, why, what);
  }

  closeSpan(object, time) {
    const {objects, spans} = this,
      span = objects.span[object];
    if (span < 0) return -1;
    spans.end.all[span] = time;
    objects.span[object] = -1;
    return span;
  }

  arrow(type, from, to, begin, end) {
    if (from !== to && from && to) this.arrows.add(type, from, to, begin, end);
  }

  finish(object, state, time) {
    const {objects} = this;
    if (objects.state[object] !== ST.open) return;
    objects.state[object] = state;
    objects.end[object] = time;
    if (object !== this.at.current) this.closeSpan(object, time);
  }

  leaveIdle(time) {
    const {at} = this;
    if (at.idleSince < 0) return;
    this.idles.add(this.atNumber, at.idleSince, time);
    at.idleSince = -1;
  }

  // Losses: what ran is not known beyond them.
  lose(time, count) {
    const {at} = this;
    this.losses.add(this.atNumber, at.lastTime ?? 0, time, count);
    if (at.current) this.closeSpan(at.current, at.lastTime ?? time);
    at.current = 0;
    at.irqs = [];
    at.idleSince = -1;
  }

  *build() {
    const {events} = this;
    for (let i = 0; i < events.count; ++i) {
      const time = events.time[i];
      HANDLERS[events.kind[i]](this, i, time);
      this.at.lastTime = time;
      this.lastTime = time;
      if (i % 8192 === 0) yield;
    }
    yield* this.close();
    return this;
  }

  *close() {
    const {objects, lastTime} = this;
    for (const [number, at] of this.streams.entries()) {
      this.at = at;
      this.atNumber = number;
      this.leaveIdle(lastTime);
    }
    for (let o = 1; o < objects.count; ++o) {
      const isLoop = objects.type[o] === this.head.loop_type;
      if (objects.state[o] === ST.open)
        objects.end[o] =
          isLoop || objects.span[o] >= 0 ? lastTime : objects.last[o];
      this.closeSpan(o, objects.end[o]);
      if (o % 8192 === 0) yield;
    }
    for (const field of [
      'spans',
      'arrows',
      'labels',
      'idles',
      'pauses',
      'losses',
      'stolen',
      'irqs',
    ])
      this[field] = this[field].done();
    for (const [name, records] of this.counters)
      this.counters.set(name, records.done());
  }
}
