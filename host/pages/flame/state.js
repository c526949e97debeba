// SPDX-License-Identifier: Apache-2.0
// What is shown, also as the URL's hash.

const COLOURS = [...['folder', 'part', 'language', 'exits', 'change', 'sides']];
const SHARES = ['all', 'latency', 'off', 'blame'];
const SORTS = ['self', 'total', 'change', 'name'];

const view = {
  zoom: 0, // node
  func: -1, // that is chosen, in graph and table
  sandwich: -1, // function, -1 = the whole tree is shown
  range: null, // [from, to) in clocks, null = all
  removed: [], // nodes
  search: '',
  icicle: false,
  byTime: false,
  cpu: -1, // whose samples are shown, -1 = all
  shares: 'all', // what they are of
  blamed: -1, // function, of 'blame'
  colour: 'folder',
  sort: 'self',
  side: true,
};

const atStart = {}; // a copy of it

function beginState(data) {
  view.byTime = data.head.by_time;
  if (data.head.diff) {
    view.colour = 'change';
    view.sort = 'change';
  }
  if (data.head.both) view.colour = 'sides';
  view.side = innerWidth > 760;
  Object.assign(atStart, structuredClone(view));
}

// Letters of the hash, each with how it is written and read.
const asNumber = (limit) => ({
  write: String,
  read: (text) => {
    const number = Number(text);
    return Number.isInteger(number) && number >= -1 && number < limit()
      ? number
      : undefined;
  },
});
// A function; another page links to it by name.
const asFunction = {
  write: String,
  read: (text) => {
    const f = data.functions.names.indexOf(text);
    return f < 0 ? asNumber(() => data.functions.count).read(text) : f;
  },
};
const isNode = (node) => node > 0 && node < data.tree.count;

const hashParts = {
  z: ['zoom', asNumber(() => data.tree.count)],
  f: ['func', asFunction],
  v: ['sandwich', asFunction],
  r: ['range', asRange],
  x: ['removed', asListOf(Number, isNode)],
  s: ['search', asText],
  i: ['icicle', asFlag],
  m: ['byTime', asFlag],
  c: ['colour', asChoice(COLOURS)],
  p: ['cpu', asNumber(() => 1 << 16)],
  w: ['shares', asChoice(SHARES)],
  k: ['blamed', asFunction],
  o: ['sort', asChoice(SORTS)],
  l: ['side', asFlag],
};

// Another page's hash may ask for colours that this page does not have.
const hasColour = (name) => {
  const needs = {
    change: () => data.head.diff,
    sides: isBoth,
    part: () => data.functions.part.some((part) => part > 0),
  };
  return needs[name] ? needs[name]() : true;
};

// Nor need it have that CPU, or several, or what they did at once.
function viewOfHash(hash) {
  readHash(hash);
  if (!hasCpus() || !data.head.cpus.includes(view.cpu)) view.cpu = -1;
  if (!hasShares(view.shares)) view.shares = 'all';
  if (!hasColour(view.colour)) view.colour = atStart.colour;
  if (view.func < 0) view.func = view.sandwich;
}
