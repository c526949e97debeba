// SPDX-License-Identifier: Apache-2.0
// Which promise hangs off which, and from when on it is drawn.
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
    parent[o] = isLoop(creator) ? 0 : creator;
    if (!simplified || !continues[objects.type[o]]) continue;
    const read = first.read[o];
    if (read < 0 || first.tried[o] <= read) continue;
    if (creator && objects.become[creator] === o) continue;
    begin[o] = read;
    parent[o] = isLoop(first.source[o]) ? 0 : first.source[o];
  }
  return {parent, begin};
}
