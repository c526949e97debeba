// SPDX-License-Identifier: Apache-2.0
// Where objects were suspended: the stacks that the guest recorded, and the
// waits of the selection as a tree, as `parasite flame --wait` has them.

let waitNodes = null; // {parent, name}: of nodes from 1, 0 = none

function loadWaits(columns) {
  const texts = stringsOf(columns, 'wait.bytes', 'wait.text'),
    functions = columns.plain('wait.function');
  waitNodes = {
    parent: [0, ...columns.plain('wait.parent')],
    name: ['', ...Array.from(functions, (f) => texts[f])],
  };
}

const hasWaits = () => waitNodes.parent.length > 1;

// The functions of a stack, the innermost first.
function waitStack(node) {
  const names = [];
  for (let at = node; at > 0; at = waitNodes.parent[at])
    names.push(waitNodes.name[at]);
  return names;
}

// Why a span waits, and for what: "sleep, for timer 5".
function waitReason(i) {
  const {spans, head} = model,
    why = spans.why[i] ? head.names[spans.why[i]] : 'no reason',
    other = spans.what[i];
  return [why, other && !isLoop(other) ? `for ${siteName(other)}` : ''];
}

// The waits of (object) by stack and reason: {names, why, what, clocks, count},
// the longest first.
function waitsOf(object) {
  const {spans} = model,
    [from, to] = selectedTimes(),
    sums = new Map();
  each(by.span, object, (i) => {
    const clocks = overlap(from, to, spans.begin[i], spans.end[i]);
    if (spans.state[i] !== TASKS_STATE.waiting || clocks <= 0) return;
    const [why, what] = waitReason(i),
      key = `${spans.stack[i]} ${why} ${what}`;
    const names = waitStack(spans.stack[i]),
      sum = sums.get(key) || {names, why, what, clocks: 0, count: 0};
    sum.clocks += clocks;
    ++sum.count;
    sums.set(key, sum);
  });
  return [...sums.values()].sort((a, b) => b.clocks - a.clocks);
}

function waitPart(object) {
  const waits = waitsOf(object).slice(0, 12);
  if (!waits.length) return [];
  const rows = waits.map(({names, why, what, clocks, count}) => {
    const frames = names.map((name) => make('li', name));
    const stack = make('ol', {className: 'frames'}, ...frames);
    const words = [why, what].filter(Boolean).join(', ');
    return [[words, stack], countText(count), clocksText(clocks)];
  });
  const hint = make('p', 'Stacks: prof.trace_stacks=32 records them.');
  return [
    make('h3', 'Where it waits'),
    tableOf('waits', ['Wait', 'Count', 'Time'], rows),
    ...(hasWaits() ? [] : [hint]),
  ];
}

// The path of a span in the tree, the outermost first. A ready span belongs to
// the wait (wait) before it, -1 = none.
function pathOfWait(i, wait) {
  const {spans} = model,
    path = [siteName(spans.object[i])];
  if (wait >= 0) {
    const [why, what] = waitReason(wait);
    path.push(...waitStack(spans.stack[wait]).reverse(), why);
    if (what) path.push(what);
  } else path.push('not suspended');
  path.push(spans.state[i] === TASKS_STATE.waiting ? '[waiting]' : '[ready]');
  return path;
}

// A tree of paths: {name, self, count, below}.
const newNode = (name) => ({name, self: 0, count: 0, below: new Map()});

function addPath(root, path, clocks) {
  let node = root;
  for (const name of path) {
    if (!node.below.has(name)) node.below.set(name, newNode(name));
    node = node.below.get(name);
  }
  node.self += clocks;
  ++node.count;
}

function* waitTree(list) {
  const {spans} = model,
    [from, to] = selectedTimes(),
    root = newNode('all');
  for (const [n, object] of list.entries()) {
    let wait = -1;
    each(by.span, object, (i) => {
      const state = spans.state[i];
      if (state === TASKS_STATE.waiting) wait = i;
      const clocks = overlap(from, to, spans.begin[i], spans.end[i]);
      if (
        (state === TASKS_STATE.waiting || state === TASKS_STATE.ready) &&
        clocks > 0
      )
        addPath(root, pathOfWait(i, wait), clocks);
      if (state === TASKS_STATE.running) wait = -1;
    });
    if (n % 256 === 0) yield;
  }
  return weightsOfTree(root);
}

// In drawing order, as samples are weighed: see stacks.js.
function weightsOfTree(root) {
  const names = [],
    self = [],
    total = [],
    end = [];
  let count = 0;
  const visit = (node) => {
    const at = names.push(node.name) - 1;
    self.push(node.self);
    total.push(node.self);
    end.push(0);
    count += node.count;
    for (const child of node.below.values()) total[at] += visit(child);
    end[at] = names.length;
    return total[at];
  };
  const whole = visit(root);
  return {
    tree: {count: names.length, end, func: names.map((_, i) => i)},
    names,
    self,
    total,
    whole,
    count,
  };
}
