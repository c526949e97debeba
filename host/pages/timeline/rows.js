// SPDX-License-Identifier: Apache-2.0
// On which row each object is drawn.
//
// In order of their begin, each takes the first row that is free from then on.
// One that overlaps its parent in time is below it; one that does not, or that
// the parent is merged into, takes the parent's row if that is free. So a chain
// of continuations is one line, and rows do not drift downwards with time. A
// segment tree finds the row: n objects take O(n log n).

// The least end of the last object in each row, and in each block of rows.
class FreeRows {
  constructor(room = 1024) {
    this.room = room; // a power of two
    this.count = 0; // rows in use
    this.ends = new Float64Array(2 * room).fill(-Infinity);
  }

  grow() {
    const more = new FreeRows(2 * this.room);
    for (let row = 0; row < this.room; ++row)
      more.ends[more.room + row] = this.ends[this.room + row];
    for (let i = more.room - 1; i > 0; --i)
      more.ends[i] = Math.min(more.ends[2 * i], more.ends[2 * i + 1]);
    this.room = more.room;
    this.ends = more.ends;
  }

  // The first row from (row) on whose last object ends at (time) or before.
  first(row, time) {
    while (row >= this.room) this.grow();
    const {ends, room} = this;
    let i = room + row;
    while (ends[i] > time) {
      while (i & 1 && i > 1) i >>= 1;
      if (i <= 1) {
        this.grow();
        return this.first(room, time);
      }
      ++i;
    }
    while (i < room) i = ends[2 * i] <= time ? 2 * i : 2 * i + 1;
    return i - room;
  }

  endOf(row) {
    return this.ends[this.room + row];
  }

  // The last object of (row) ends at (time).
  put(row, time) {
    const {ends} = this;
    let i = this.room + row;
    ends[i] = time;
    for (i >>= 1; i > 0; i >>= 1)
      ends[i] = Math.min(ends[2 * i], ends[2 * i + 1]);
    this.count = Math.max(this.count, row + 1);
  }
}

// Lays out items: {count, begin, end, parent, merged}; parent -1 = none, and
// merged says that the item is what its parent was merged into. Items are in
// order of begin, parents before their children. Returns {rows, height}.
function* layOutRows(items) {
  const rows = new Int32Array(items.count),
    free = new FreeRows();
  for (let i = 0; i < items.count; ++i) {
    const parent = items.parent[i],
      begin = items.begin[i];
    let row = -1;
    if (parent < 0) {
      row = free.first(0, begin);
    } else if (items.merged[i] || items.end[parent] <= begin) {
      const same = rows[parent];
      row = free.endOf(same) <= begin ? same : free.first(0, begin);
    } else {
      row = free.first(rows[parent] + 1, begin);
    }
    rows[i] = row;
    free.put(row, Math.max(items.end[i], begin + 1));
    if (i % 4096 === 0) yield;
  }
  return {rows, height: free.count};
}

// ---- which promise hangs off which, and from when on it is drawn.
//
// A continuation whose first act is to read another object did nothing before.
// Drawn from there, hanging off what it read, it shows what happened and takes
// far fewer rows. What somebody looked at before that, what has a label from
// before, and what its creator was merged into stay as they are.

// Kinds of objects that are continuations, by their names in <prof/events.def>.
const CONTINUATIONS = new Set([
  'bind',
  'map',
  'catch',
  'ignore_result',
  'on_failure',
  'on_termination',
]);

// Of each object: when it read another one, if it had done nothing before, and
// which; and when it was looked at first while it was pending.
function firstActs(model) {
  const {objects, edges, labels} = model,
    count = objects.count;
  const read = new Float64Array(count).fill(-1),
    source = new Int32Array(count),
    tried = new Float64Array(count).fill(Infinity),
    acted = new Uint8Array(count),
    looked = new Int32Array(count),
    named = new Float64Array(count).fill(Infinity);
  for (let i = labels.count - 1; i >= 0; --i)
    named[labels.object[i]] = labels.time[i];
  for (let i = 0; i < edges.time.length; ++i) {
    const from = edges.from[i],
      kind = edges.kind[i],
      time = edges.time[i];
    if (kind === ARROW.try_read)
      tried[edges.to[i]] = Math.min(tried[edges.to[i]], time);
    if (acted[from]) continue;
    const other = looked[from] && looked[from] !== edges.to[i];
    if (kind === ARROW.try_read && !other) {
      looked[from] = edges.to[i];
      continue;
    }
    acted[from] = 1;
    if (kind !== ARROW.read || other || named[from] < time) continue;
    read[from] = time;
    source[from] = edges.to[i];
  }
  return {read, source, tried};
}

// Returns {parent, begin} of each object; parent 0 = it hangs off nothing.
function familyOf(model, simplified) {
  const {objects, head} = model;
  const first = firstActs(model);
  const parent = new Int32Array(objects.count);
  const begin = objects.begin.slice();
  const continues = head.types.map((name) => CONTINUATIONS.has(name));
  for (let o = 1; o < objects.count; ++o) {
    const creator = objects.creator[o];
    parent[o] = isSystem(creator) ? 0 : creator;
    if (!simplified || !continues[objects.type[o]]) continue;
    const read = first.read[o];
    if (read < 0 || first.tried[o] <= read) continue;
    if (creator && objects.become[creator] === o) continue;
    begin[o] = read;
    parent[o] = isSystem(first.source[o]) ? 0 : first.source[o];
  }
  return {parent, begin};
}
