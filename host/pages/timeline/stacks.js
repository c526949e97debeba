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
  if (
    !view.chosen ||
    by.span.from[view.chosen] === by.span.from[view.chosen + 1]
  )
    return [[begin, end]];
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
  for (const [from, to] of stretches())
    for (
      let i = firstAtLeast(samples.time, from);
      i < samples.time.length && samples.time[i] < to;
      ++i
    ) {
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
      panel.append(
        make('p', 'Functions are missing: prof.trace_stacks=32 records them.'),
      );
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
