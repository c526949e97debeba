// SPDX-License-Identifier: Apache-2.0
// What is shown, also as the URL's hash, so that a copied URL shows the same.
// Defaults are left out.

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
  path: false, // the critical path of the chosen object is drawn
  panel: 'object',
  mark: 'create', // of response times
  until: 'resolve',
};

const atStart = {};

const asNumber = {write: String, read: (text) => Number(text) || 0};
const asFlag = {
  write: (flag) => (flag ? '1' : '0'),
  read: (text) => text === '1',
};
const asText = {write: String, read: String};
const asRange = {
  write: (range) => range.map((time) => Math.round(time)).join('-'),
  read: (text) => {
    const [from, to] = text.split('-').map(Number);
    return to > from ? [from, to] : undefined;
  },
};
const listOf = (read) => ({
  write: (list) => list.join('.'),
  read: (text) => (text === '' ? [] : text.split('.').map(read)),
});
const asChoice = (choices) => ({
  write: String,
  read: (text) => (choices.includes(text) ? text : undefined),
});

const hashParts = {
  a: ['from', asNumber],
  b: ['to', asNumber],
  f: ['focus', asNumber],
  o: ['chosen', asNumber],
  r: ['range', asRange],
  s: ['search', asText],
  i: ['simplified', asFlag],
  g: ['grouped', asFlag],
  q: ['opened', listOf(String)],
  x: ['hidden', listOf(Number)],
  y: ['only', listOf(Number)],
  e: ['states', listOf(Number)],
  w: ['arrows', listOf(String)],
  c: ['counters', asFlag],
  k: ['path', asFlag],
  p: ['panel', asChoice(PANELS)],
  m: ['mark', asText],
  u: ['until', asText],
};

const sameValue = (a, b) => JSON.stringify(a) === JSON.stringify(b);

function hashOfView() {
  const parts = new URLSearchParams();
  for (const [letter, [name, how]] of Object.entries(hashParts))
    if (view[name] !== null && !sameValue(view[name], atStart[name]))
      parts.set(letter, how.write(view[name]));
  return parts.toString();
}

function viewOfHash(hash) {
  const parts = new URLSearchParams(hash.replace(/^#/, ''));
  Object.assign(view, structuredClone(atStart));
  for (const [letter, [name, how]] of Object.entries(hashParts)) {
    const value = parts.has(letter) ? how.read(parts.get(letter)) : undefined;
    if (value !== undefined) view[name] = value;
  }
  if (!(view.to > view.from)) [view.from, view.to] = [atStart.from, atStart.to];
  if (!(view.chosen < model.objects.count)) view.chosen = 0;
}

const keepHash = later(() => {
  const hash = hashOfView();
  if (hash !== location.hash.replace(/^#/, ''))
    history.replaceState(
      null,
      '',
      hash ? '#' + hash : location.pathname + location.search,
    );
}, 150);
