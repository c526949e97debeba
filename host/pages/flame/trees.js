// SPDX-License-Identifier: Apache-2.0
// Trees that are built on demand: the callers and the callees of a function, of
// all its occurrences. They have the shape of the tree of data.js.

const MADE = ['line', 'heaviest', 'self', 'exits', 'base'];

class TreeMaker {
  constructor(func) {
    Object.assign(this, {func: [func], parent: [-1], keys: new Map()});
    for (const name of MADE) this[name] = [0];
  }

  // The node of (func) below (parent); it is made if there is none.
  child(parent, func, line, weight) {
    const key = parent * data.functions.count + func;
    let node = this.keys.get(key);
    if (node === undefined) {
      node = this.func.length;
      this.keys.set(key, node);
      this.func.push(func);
      this.parent.push(parent);
      for (const name of MADE) this[name].push(0);
    }
    if (weight > this.heaviest[node]) {
      this.heaviest[node] = weight;
      this.line[node] = line;
    }
    return node;
  }

  add(node, self, exits, base) {
    this.self[node] += self;
    this.exits[node] += exits;
    this.base[node] += base;
  }

  // Old numbers in drawing order, the widest children first.
  *order(width) {
    const children = this.func.map(() => null);
    for (let i = this.func.length - 1; i > 0; --i) {
      const parent = this.parent[i];
      children[parent] ||= [];
      children[parent].push(i);
      if (i % 4096 === 0) yield;
    }
    const order = [],
      waiting = [0];
    while (waiting.length) {
      const node = waiting.pop();
      order.push(node);
      if (children[node]) {
        children[node].sort((a, b) => width[a] - width[b] || b - a);
        for (const child of children[node]) waiting.push(child);
      }
      if (order.length % 1024 === 0) yield;
    }
    return order;
  }

  *finish() {
    const count = this.func.length;
    const old = {...newWeights(count), parent: this.parent, count};
    for (const name of ['exits', 'base', 'self']) old[name].set(this[name]);
    old.total.set(old.self);
    yield;
    addUp(old);
    const order = yield* this.order(old.width);
    const tree = {
      ...newWeights(count),
      count,
      depth: new Uint16Array(count),
      func: new Int32Array(count),
      line: new Uint32Array(count),
      parent: new Int32Array(count),
      end: new Uint32Array(count),
    };
    for (const name of ['total', 'exits', 'base', 'width', 'self']) {
      for (let i = 0; i < count; ++i) tree[name][i] = old[name][order[i]];
      yield;
    }
    for (const name of ['func', 'line'])
      for (let i = 0; i < count; ++i) tree[name][i] = this[name][order[i]];
    this.link(tree, order);
    return tree;
  }

  link(tree, order) {
    const now = new Uint32Array(tree.count);
    order.forEach((was, i) => {
      now[was] = i;
    });
    tree.parent[0] = -1;
    for (let i = 1; i < tree.count; ++i) {
      tree.parent[i] = now[this.parent[order[i]]];
      tree.depth[i] = tree.depth[tree.parent[i]] + 1;
    }
    for (let i = tree.count - 1; i >= 0; --i) {
      const {end, parent} = tree;
      end[i] = Math.max(end[i], i + 1);
      if (i > 0) end[parent[i]] = Math.max(end[parent[i]], end[i]);
    }
  }
}

// Where (func) begins a call that is not inside another one of it.
function placesOf(func) {
  const found = [],
    tree = data.tree;
  for (let i = 1; i < tree.count; ++i) {
    const isSeen = tree.total[i] > 0 || tree.base[i] > 0;
    if (tree.func[i] === func && outermost[i] && isSeen) found.push(i);
  }
  return found;
}

function* calleesOf(func, places) {
  const maker = new TreeMaker(func),
    tree = data.tree,
    above = [];
  const {self, exits, base, depth} = tree;
  const own = selfExits();
  for (const place of places) {
    above[0] = 0;
    for (let i = place; i < tree.end[place]; ++i) {
      const d = depth[i] - depth[place];
      const {func, line, total} = tree;
      if (d > 0)
        above[d] = maker.child(above[d - 1], func[i], line[i], total[i]);
      maker.add(above[d], self[i], own[i], tree.baseSelf[i]);
      if (i % 1024 === 0) yield;
    }
  }
  return yield* maker.finish();
}

// Weights in the hypervisor without those of callees.
function selfExits() {
  const own = Float64Array.from(data.tree.exits),
    {parent, exits} = data.tree;
  for (let i = 1; i < data.tree.count; ++i) own[parent[i]] -= exits[i];
  return own;
}

function* callersOf(func, places) {
  const maker = new TreeMaker(func),
    tree = data.tree;
  let steps = 0;
  for (const place of places) {
    let node = 0;
    for (let i = tree.parent[place]; i > 0; i = tree.parent[i])
      node = maker.child(node, tree.func[i], tree.line[i], tree.total[place]);
    maker.add(node, tree.total[place], tree.exits[place], tree.base[place]);
    if (++steps % 64 === 0) yield;
  }
  return yield* maker.finish();
}

function* sandwichOf(func) {
  const places = placesOf(func);
  const callers = yield* callersOf(func, places);
  const callees = yield* calleesOf(func, places);
  return {callers, callees};
}

// Functions that call (func), or that it calls, with their weights: a call
// inside the same call counts once.
function edgesOf(func, areCallers) {
  const tree = data.tree,
    open = new Map(),
    sums = new Map();
  for (let i = 2; i < tree.count; ++i) {
    const above = tree.parent[i] > 0 ? tree.func[tree.parent[i]] : -1;
    const here = areCallers ? tree.func[i] : above;
    const other = areCallers ? above : tree.func[i];
    if (here !== func || other < 0 || i < (open.get(other) || 0)) continue;
    open.set(other, tree.end[i]);
    sums.set(other, (sums.get(other) || 0) + tree.total[i]);
  }
  return [...sums].filter(([, sum]) => sum > 0).sort((a, b) => b[1] - a[1]);
}
