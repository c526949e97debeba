// SPDX-License-Identifier: Apache-2.0
// What is drawn, and where: objects that are neither hidden nor filtered out,
// and groups of alike ones, laid out in rows.
//
// Alike are objects of one site whose parents are of one site. A group of many
// is one item, a row of their density, until it is opened.

const GROUP_FROM = 200; // objects; smaller groups are never closed
const GROUP_KIND_FROM = 2000; // of a kind, where their sites are not known
const GROUPS_MAX = 40; // with more, parents do not separate groups

const items = {
  count: 0,
  object: null, // 0: a group
  group: null, // its number, -1: an object
  begin: null,
  end: null,
  parent: null, // item, -1 = none
  merged: null,
  rows: null, // the first, where there are several
  tall: null, // rows of each item: a group may have several
  bandAt: null, // of each row the group's item, -1 = objects
  height: 0, // rows
  part: null, // of each item
  bands: [], // [first row, row after the last] of each part
  ofObject: null, // item of each object, -1 = not drawn
  byRow: null, // items in order of row and begin
  rowFrom: null, // where each row begins in it, and the end
};

let groups = []; // {key, site: an object of it, members, shown, band}
let family = null;

const typeOf = (object) => model.head.types[model.objects.type[object]] || '';

function siteName(object) {
  const {objects, head} = model;
  return head.names[objects.site[object]] || typeOf(object);
}

// Where its site is, as an element; '' if that is not known.
function sitePlace(object) {
  const {objects, head} = model,
    site = objects.site[object];
  if (!head.files[site]) return '';
  return make('span', {
    className: 'place',
    textContent: ` ${head.files[site]}:${head.lines[site]}`,
  });
}

function objectName(object) {
  if (!object) return 'none';
  const {objects, head} = model,
    label = objects.label[object];
  if (isSystem(object)) return systemName(object);
  const name = label ? head.names[label] : siteName(object);
  return `${name} ${objects.id[object]}`;
}

// One number for kind and site, which is what objects are grouped by.
const alikeKey = (o) => model.objects.site[o] * 64 + model.objects.type[o];

function* findGroups() {
  yield* groupBy((parent) => (parent ? alikeKey(parent) : ''));
  if (groups.filter(isLarge).length > GROUPS_MAX) yield* groupBy(() => '');
}

// Groups of objects of one kind and site, separated by (ofParent) and by CPUs.
function* groupBy(ofParent) {
  const {objects} = model,
    several = model.head.traces.map((_, trace) => hasCpus(trace)),
    numbers = new Map();
  groups = [];
  for (let o = 1; o < objects.count; ++o) {
    if (isSystem(o)) continue;
    const cpu = several[objects.trace[o]] ? ` of ${objects.part[o]}` : '',
      key = `${alikeKey(o)} ${ofParent(family.parent[o])}${cpu}`;
    if (!numbers.has(key)) {
      numbers.set(key, groups.length);
      groups.push({key, site: o, members: [], shown: []});
    }
    groups[numbers.get(key)].members.push(o);
    if (o % 8192 === 0) yield;
  }
}

const isLarge = ({site, members}) =>
  members.length >= (model.objects.site[site] ? GROUP_FROM : GROUP_KIND_FROM);
const isClosed = (group) =>
  view.grouped && isLarge(group) && !view.opened.includes(group.key);

function isShown(o) {
  const {objects} = model;
  if (isSystem(o)) return false;
  if (view.states !== null && !view.states.includes(objects.state[o]))
    return false;
  const key = alikeKey(o);
  if (view.hidden.includes(key)) return false;
  return view.only.length === 0 || view.only.includes(key);
}

// The item that (object) hangs off: its nearest parent that is drawn.
function itemAbove(object) {
  for (let o = family.parent[object], n = 0; o && n < 64; ++n) {
    if (items.ofObject[o] >= 0) return items.ofObject[o];
    o = family.parent[o];
  }
  return -1;
}

function* chooseItems() {
  const chosen = [];
  for (const [number, group] of groups.entries()) {
    const members = group.members.filter(isShown);
    yield;
    if (members.length === 0) continue;
    if (!isClosed(group)) {
      for (const o of members) chosen.push([family.begin[o], o, -1, endOf(o)]);
      continue;
    }
    let begin = Infinity,
      end = 0;
    for (const o of members) {
      begin = Math.min(begin, family.begin[o]);
      end = Math.max(end, endOf(o));
    }
    group.shown = members;
    group.band = null;
    chosen.push([begin, members[0], number, end]);
  }
  for (const o of systemRows()) chosen.push([family.begin[o], o, -1, endOf(o)]);
  yield;
  chosen.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return chosen;
}

// The rows above all else of a part: interrupts, and the loop below them.
function systemRows() {
  const {objects, head} = model,
    list = head.parts.map(({loop}) => loop).filter(Boolean);
  if (view.interrupts)
    for (let o = objects.count - head.vectors.length; o < objects.count; ++o)
      list.push(o);
  return list;
}

function systemName(o) {
  const {objects, head} = model,
    cpu = hasCpus(objects.trace[o])
      ? ` of CPU ${head.parts[objects.part[o]].cpu}`
      : '';
  if (isVector(o)) return `irq ${objects.id[o]}${cpu}`;
  return isLoop(o) ? `event loop${cpu}` : 'unknown';
}

// What a part is called: its trace, if there are several, and its CPU, if its
// trace has several. '' if there is only one part.
function partName(part) {
  const {head} = model,
    {trace, cpu} = head.parts[part],
    names = [];
  if (head.traces.length > 1)
    names.push(head.traces[trace].name.replace(/.*\//, ''));
  if (hasCpus(trace)) names.push(`CPU ${cpu}`);
  return names.join(', ');
}

const endOf = (o) => Math.max(model.objects.end[o], family.begin[o]);

function* fillItems(chosen) {
  const {objects} = model,
    count = chosen.length;
  items.count = count;
  items.begin = Float64Array.from(chosen, (one) => one[0]);
  items.end = Float64Array.from(chosen, (one) => one[3]);
  items.object = Int32Array.from(chosen, (one) => (one[2] < 0 ? one[1] : 0));
  items.group = Int32Array.from(chosen, (one) => one[2]);
  items.part = Uint16Array.from(chosen, (one) => objects.part[one[1]]);
  items.parent = new Int32Array(count).fill(-1);
  items.merged = new Uint8Array(count);
  items.tall = new Uint8Array(count).fill(1);
  items.ofObject = new Int32Array(objects.count).fill(-1);
  yield;
  for (let i = 0; i < count; ++i) {
    if (items.group[i] < 0) items.ofObject[items.object[i]] = i;
    else for (const o of groups[items.group[i]].shown) items.ofObject[o] = i;
  }
  yield;
  for (let i = 0; i < count; ++i) {
    const o = items.object[i];
    if (!o) continue;
    const above = itemAbove(o);
    if (above >= i) continue;
    items.parent[i] = above;
    items.merged[i] = Number(objects.become[family.parent[o]] === o);
    if (i % 8192 === 0) yield;
  }
}

// Items in order of row and begin.
function* sortByRow() {
  const {rows, height} = items;
  const {from, list} = yield* byNumber(rows, height);
  items.byRow = list;
  items.rowFrom = from;
}

// The items of one part, for layOutRows().
function itemsOfPart(list) {
  const places = new Map(list.map((item, i) => [item, i]));
  return {
    count: list.length,
    begin: list.map((i) => items.begin[i]),
    end: list.map((i) => items.end[i]),
    merged: list.map((i) => items.merged[i]),
    parent: list.map((i) => places.get(items.parent[i]) ?? -1),
  };
}

const BETWEEN_PARTS = 2; // rows that are free

// Groups are above all else, those of tasks first, then the larger ones. They
// take several rows, if there is room.
function placeGroups(list, others) {
  const isTask = (i) => typeOf(groups[items.group[i]].site) === 'task',
    size = (i) => groups[items.group[i]].shown.length,
    tasks = list.filter(isTask),
    promises = list.filter((i) => !isTask(i)),
    tall = rowsOfBands(tasks.length, promises.length, others);
  for (const [kind, part] of [tasks, promises].entries()) {
    part.sort((a, b) => size(b) - size(a) || a - b);
    for (const i of part) {
      items.rows[i] = items.height;
      items.tall[i] = tall[kind];
      items.height += tall[kind];
    }
  }
}

// Interrupts by their vectors, then the loop.
function placeSystem(list) {
  const last = (i) => Number(isLoop(items.object[i]));
  list.sort(
    (a, b) => last(a) - last(b) || items.object[a] - items.object[b] || a - b,
  );
  for (const i of list) items.rows[i] = items.height++;
}

// The items of one part, below what has been laid out.
function* layOutPart(list) {
  const first = items.height + (items.bands.length ? BETWEEN_PARTS : 0),
    isGroup = (i) => items.group[i] >= 0,
    isRow = (i) => !isGroup(i) && isSystem(items.object[i]),
    objects = list.filter((i) => !isGroup(i) && !isRow(i)),
    bands = list.filter(isGroup);
  const {rows, height} = yield* layOutRows(itemsOfPart(objects));
  items.height = first;
  placeSystem(list.filter(isRow));
  if (bands.length) placeGroups(bands, height);
  for (const [i, item] of objects.entries())
    items.rows[item] = items.height + rows[i];
  items.height += height;
  items.bands.push([first, items.height]);
}

// Parts are below each other.
function* layOutParts() {
  const lists = model.head.parts.map(() => []);
  items.bands = [];
  items.rows = new Int32Array(items.count);
  items.height = 0;
  for (let i = 0; i < items.count; ++i) lists[items.part[i]].push(i);
  for (const list of lists) yield* layOutPart(list);
  items.bandAt = new Int32Array(items.height).fill(-1);
  for (let i = 0; i < items.count; ++i)
    if (items.group[i] >= 0)
      items.bandAt.fill(i, items.rows[i], items.rows[i] + items.tall[i]);
}

// Everything anew, after the filters, groups or the simplification changed.
function* placeItems() {
  family = familyOf(model, view.simplified);
  yield;
  yield* findGroups();
  const chosen = yield* chooseItems();
  yield* fillItems(chosen);
  yield* layOutParts();
  yield* sortByRow();
}

// The first in (row), as an index of byRow, that ends after (time).
function firstInRow(row, time) {
  const {byRow, end, rowFrom} = items;
  return firstThat(
    rowFrom[row],
    rowFrom[row + 1],
    (i) => end[byRow[i]] >= time,
  );
}

// The items of (row) that end at (port.from) or later and begin at (port.to) or
// before.
function* inSight(row) {
  const {byRow, begin, rowFrom} = items;
  for (let at = firstInRow(row, port.from); at < rowFrom[row + 1]; ++at) {
    if (begin[byRow[at]] > port.to) return;
    yield byRow[at];
  }
}
