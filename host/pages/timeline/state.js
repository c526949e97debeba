// SPDX-License-Identifier: Apache-2.0
// What is shown, also as the URL's hash.

const PANELS = ['object', 'sites', 'late', 'interrupts', 'times', 'stacks'];

const view = {
  from: 0, // clocks, of the picture's left edge
  to: 1,
  focus: 0, // row
  chosen: 0, // object, 0 = none
  range: null, // [from, to) in clocks that is selected, null = all
  search: '',
  simplified: true,
  grouped: true,
  opened: [], // keys of groups
  hidden: [], // keys of sites
  only: [],
  states: null, // numbers of STATES, null = all
  arrows: [], // names of ARROWS
  counters: true,
  interrupts: true, // have rows
  uncounted: [], // numbers of counters that are not drawn
  path: false, // the critical path of the chosen object is drawn
  panel: 'object',
  waits: false, // the panel of stacks shows waits
  mark: 'create', // of response times
  until: 'resolve',
};

const atStart = {};

const asNumber = {write: String, read: (text) => Number(text) || 0};
const hashParts = {
  a: ['from', asNumber],
  b: ['to', asNumber],
  f: ['focus', asNumber],
  o: ['chosen', asNumber],
  r: ['range', asRange],
  s: ['search', asText],
  i: ['simplified', asFlag],
  g: ['grouped', asFlag],
  q: ['opened', asListOf(String)],
  x: ['hidden', asListOf(Number)],
  y: ['only', asListOf(Number)],
  e: ['states', asListOf(Number)],
  w: ['arrows', asListOf(String)],
  c: ['counters', asFlag],
  n: ['interrupts', asFlag],
  l: ['uncounted', asListOf(Number)],
  k: ['path', asFlag],
  p: ['panel', asChoice(PANELS)],
  v: ['waits', asFlag],
  m: ['mark', asText],
  u: ['until', asText],
};

function viewOfHash(hash) {
  readHash(hash);
  if (!(view.to > view.from)) [view.from, view.to] = [atStart.from, atStart.to];
  if (!(view.chosen < model.objects.count)) view.chosen = 0;
}
