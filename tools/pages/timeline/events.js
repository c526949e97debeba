// SPDX-License-Identifier: Apache-2.0
// What the payload holds: the events of all traces in order of time, in typed
// arrays. docs/timeline.md has the format.
//
// An object is a task, a promise, or whatever else may wait or be waited for.
// Objects count from 1; 0 is none. Each stream (a CPU of a trace) has its event
// loop as an object too.

// Kinds of events, as the payload numbers them, and which fields they have:
// o and p objects, k a kind of objects, n a name or another small number, v an
// amount.
const EVENT_FIELDS = {
  stream: 'n', // what follows happened there
  create: 'okn', // n: site
  alive: 'opkn', // it was created before, by p
  read: 'o',
  try_read: 'o',
  resolve: 'o',
  fail: 'on', // n: why
  cancel: 'o',
  gone: 'o',
  become: 'op',
  signal: 'op', // condition o lets p go on
  label: 'on',
  counter: 'nv',
  switch: 'o',
  wake: 'op', // because of p
  suspend: 'n', // n: why
  pause: 'nv', // v: clocks until now
  irq_enter: 'n', // n: vector
  irq_exit: 'n',
  defer: 'on', // to o
  lost: 'v', // v: events
  stolen: 'v', // v: clocks until now
};
const EVENT_NAMES = Object.keys(EVENT_FIELDS);
const EV = Object.fromEntries(EVENT_NAMES.map((name, i) => [name, i]));

// Puts a column's numbers where the kinds have that field.
function spread(kinds, letter, column, into) {
  const has = EVENT_NAMES.map((name) => EVENT_FIELDS[name].includes(letter));
  for (let i = 0, at = 0; i < kinds.length; ++i)
    if (has[kinds[i]]) into[i] = column[at++];
  return into;
}

async function loadEvents(columns) {
  const kind = columns.raw('event.kind').slice(),
    count = kind.length;
  const time = columns.changes('event.time');
  await pause();
  const object = spread(
    kind,
    'o',
    columns.changes('event.object'),
    new Int32Array(count),
  );
  await pause();
  const other = spread(
    kind,
    'p',
    columns.plain('event.other'),
    new Int32Array(count),
  );
  await pause();
  const name = spread(
    kind,
    'n',
    columns.plain('event.name'),
    new Int32Array(count),
  );
  const type = spread(
    kind,
    'k',
    columns.plain('event.type'),
    new Uint8Array(count),
  );
  await pause();
  const value = spread(
    kind,
    'v',
    signed(columns.plain('event.value'), false),
    new Float64Array(count),
  );
  return {count, kind, time, object, other, name, type, value};
}
