// SPDX-License-Identifier: Apache-2.0
// Which promise hangs off which, and from when on it is drawn.
//
// A continuation whose first act is to read another object did nothing before.
// Drawn from there, hanging off what it read, it shows what happened and takes
// far fewer rows. What somebody looked at before that, what has a label from
// before, and what its creator was merged into stay as they are.

// Kinds of objects that are continuations, by the names in <prof/events.def>
// and those of other recorders.
const CONTINUATIONS = new Set([
  'bind',
  'try',
  'map',
  'catch',
  'ignore_result',
  'on_failure',
  'on_termination',
]);

// Returns {parent, begin} of each object; parent 0 = it hangs off nothing.
function familyOf(model, simplified) {
  const {objects, head} = model;
  const parent = new Int32Array(objects.count);
  const begin = objects.begin.slice();
  const continues = head.types.map((name) => CONTINUATIONS.has(name));
  for (let o = 1; o < objects.count; ++o) {
    const creator = objects.creator[o];
    const isLoop = objects.type[creator] === head.loop_type;
    parent[o] = isLoop ? 0 : creator;
    if (!simplified || !continues[objects.type[o]]) continue;
    const read = objects.firstRead[o];
    if (read < 0 || objects.tried[o] <= read) continue;
    if (creator && objects.become[creator] === o) continue;
    begin[o] = read;
    parent[o] = objects.firstSource[o];
  }
  return {parent, begin};
}
