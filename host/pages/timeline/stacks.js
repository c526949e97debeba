// SPDX-License-Identifier: Apache-2.0
// Samples of the selection: those of the chosen object, which were taken while
// it ran, or of all; in the selected time, or in all of it. As an icicle, the
// callers at the top, and as a table of functions. Waits are shown as well.

const LEVEL = 17; // pixels
const THIN = 1; // pixels; thinner boxes are left out

let profile = null; // {tree, names, stackNode, samples}; null: no samples

async function loadStacks(columns) {
  if (!columns.head.has_samples) return;
  const strings = stringsOf(columns);
  profile = {
    tree: treeOf(columns),
    names: functionsOf(columns, strings).names,
    stackNode: Uint32Array.from(columns.changes('stack.node')),
    samples: await samplesOf(columns),
    shift: columns.head.samples_shift,
  };
  const {time} = profile.samples;
  for (let i = 0; i < time.length; ++i) time[i] += profile.shift;
}

// The stretches of time in which samples count.
function stretches() {
  const [begin, end] = selectedTimes();
  if (!view.chosen || !hasSpans(view.chosen)) return [[begin, end]];
  const list = [],
    {spans} = model;
  each(by.span, view.chosen, (i) => {
    if (spans.state[i] !== TASKS_STATE.running) return;
    const from = Math.max(begin, spans.begin[i]),
      to = Math.min(end, spans.end[i]);
    if (to > from) list.push([from, to]);
  });
  return list;
}

// Weights of all nodes: {tree, names, self, total, whole, count}.
function weighStretches() {
  const {tree, stackNode, samples} = profile,
    self = new Float64Array(tree.count);
  let count = 0;
  const {time} = samples;
  for (const [from, to] of stretches())
    for (let i = firstAtLeast(time, from); time[i] < to; ++i) {
      self[stackNode[samples.stack[i]]] += samples.clocks[i];
      count += samples.samples[i];
    }
  const total = self.slice();
  for (let node = tree.count - 1; node > 0; --node)
    total[tree.parent[node]] += total[node];
  const {names} = profile;
  return {tree, names, self, total, whole: total[0], count};
}

const stackName = ({tree, names}, node) =>
  tree.func[node] < 0 ? 'all' : names[tree.func[node]];

// Boxes [node, level, x, width], the heaviest first among siblings.
function icicle({tree, total, whole}, width) {
  const boxes = [];
  const place = (node, level, x) => {
    const wide = (total[node] / whole) * width;
    if (wide < THIN) return;
    boxes.push([node, level, x, wide]);
    const below = [];
    for (let child = node + 1; child < tree.end[node]; child = tree.end[child])
      if (total[child] > 0) below.push(child);
    below.sort((a, b) => total[b] - total[a]);
    for (const child of below) {
      place(child, level + 1, x);
      x += (total[child] / whole) * width;
    }
  };
  place(0, 0, 0);
  return boxes;
}

function icicleOf(weights, width) {
  const boxes = icicle(weights, width),
    levels = boxes.reduce((most, box) => Math.max(most, box[1]), 0) + 1;
  const canvas = make('canvas', {id: 'icicle'}),
    pen = sized(canvas, width, levels * LEVEL);
  canvas.style.width = '';
  for (const [node, level, x, wide] of boxes) {
    pen.fillStyle = palette.density;
    pen.globalAlpha = 0.3 + (0.12 * (node % 5)) / 2;
    pen.fillRect(x, level * LEVEL, Math.max(1, wide - 1), LEVEL - 1);
    pen.globalAlpha = 1;
    pen.fillStyle = palette.ink;
    const text =
      wide > 24 ? clipped(pen, stackName(weights, node), wide - 6) : '';
    if (text) pen.fillText(text, x + 3, level * LEVEL + LEVEL / 2);
  }
  const titleOf = (node) =>
    `${stackName(weights, node)}: ${clocksText(weights.total[node])}, ` +
    shareText(weights.total[node] / weights.whole);
  const pointermove = ({offsetX, offsetY}) => {
    const box = boxes.find(
      ([, level, x, wide]) =>
        level === Math.floor(offsetY / LEVEL) &&
        offsetX >= x &&
        offsetX < x + wide,
    );
    canvas.title = box ? titleOf(box[0]) : '';
  };
  return listen(canvas, {pointermove});
}

// Functions by their own time.
function functionTable({tree, names, self, whole}) {
  const sums = new Map();
  for (let node = 1; node < tree.count; ++node)
    if (self[node])
      sums.set(tree.func[node], (sums.get(tree.func[node]) || 0) + self[node]);
  const longest = [...sums].sort((a, b) => b[1] - a[1]).slice(0, 40);
  const rows = longest.map(([f, clocks]) => [
    names[f],
    clocksText(clocks),
    shareText(clocks / whole),
  ]);
  return tableOf('functions', ['Function', 'Self', 'Share'], rows);
}

// Buttons that choose between samples and waits.
function whichStacks() {
  const choice = (id, waits, words, title) => {
    const ariaPressed = String(view.waits === waits);
    return button(words, () => setWaits(waits), {id, title, ariaPressed});
  };
  const why = 'Time in which tasks did not run (v)';
  return make(
    'p',
    {className: 'pickers'},
    choice('stacks-samples', false, 'Running', 'Samples (v)'),
    choice('stacks-waits', true, 'Waiting', why),
  );
}

function setWaits(waits) {
  view.waits = waits;
  view.panel = 'stacks';
  changed('view');
  showPanel();
}

function putStacks(panel, weights, what) {
  const whose = view.chosen ? objectName(view.chosen) : 'all objects',
    when = view.range ? ' in the selected time' : '';
  panel.append(
    make('p', {id: 'stacks-of', textContent: `${what} of ${whose}${when}`}),
  );
  if (weights.whole > 0)
    panel.append(icicleOf(weights, panel.clientWidth - 26));
}

function showWaits(panel) {
  const list = view.chosen ? [view.chosen] : shownObjects();
  panelWork = inSlices(waitTree(list), (weights) => {
    const count = plural(weights.count, 'stretch', 'stretches');
    putStacks(panel, weights, `${count}, ${clocksText(weights.whole)},`);
    if (!hasWaits())
      panel.append(make('p', `Functions are missing: ${STACKS_HINT}`));
    panel.dataset.done = 'yes';
  });
}

function showStacks(panel) {
  panel.append(whichStacks());
  if (view.waits) {
    showWaits(panel);
    return;
  }
  if (!profile) {
    panel.append(make('p', 'The trace has no samples.'));
    return;
  }
  const weights = weighStretches();
  putStacks(panel, weights, samplesText(weights.count));
  if (weights.whole > 0) panel.append(functionTable(weights));
}

// ---- where objects were suspended: the stacks that the guest recorded, and
// the waits of the selection as a tree, as in `parasite flame --wait`.

const STACKS_HINT = 'prof.trace_stacks=32 records them.';

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
  return [why, other && !isSystem(other) ? `for ${siteName(other)}` : ''];
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
  const hint = make('p', `Stacks: ${STACKS_HINT}`);
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
      const isWait = [TASKS_STATE.waiting, TASKS_STATE.ready].includes(state);
      if (isWait && clocks > 0) addPath(root, pathOfWait(i, wait), clocks);
      if (state === TASKS_STATE.running) wait = -1;
    });
    if (n % 256 === 0) yield;
  }
  return weightsOfTree(root);
}

// In drawing order, as samples are weighed: see stacks.js.
function weightsOfTree(root) {
  const [names, self, total, end] = [[], [], [], []];
  let count = 0;
  const visit = (node) => {
    const at = names.push(node.name) - 1;
    self[at] = total[at] = node.self;
    count += node.count;
    for (const child of node.below.values()) total[at] += visit(child);
    end[at] = names.length;
    return total[at];
  };
  const whole = visit(root),
    tree = {count: names.length, end, func: [...names.keys()]};
  return {tree, names, self, total, whole, count};
}
