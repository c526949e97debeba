// SPDX-License-Identifier: Apache-2.0
// From samples to weights: of stacks, then of nodes, then of functions. Sums by
// stack follow the range by the samples that it gained or lost; then comes one
// pass over the tree, so that all of it can follow every mouse move.

const weights = {
  sum: 0,
  count: 0, // of what is shown: weight, and samples
  baseSum: 0,
  baseCount: 0, // of what it is compared with
};

let stackWeight, stackRemoved, outermost;

// Sums by stack of the samples [first, last): of all, and of the range.
const wholeSums = {first: 0, last: 0, samples: null, clocks: null};
const rangeSums = {first: 0, last: 0, samples: null, clocks: null};

function beginSums(sums) {
  const stacks = data.stackNode.length;
  sums.samples = new Float64Array(stacks);
  sums.clocks = new Float64Array(stacks);
}

function copySums(to, from) {
  to.samples.set(from.samples);
  to.clocks.set(from.clocks);
  to.first = from.first;
  to.last = from.last;
}

// Adds the samples [from, to), or takes them away: they are (times) 1 or -1.
function addSamples(sums, from, to, times) {
  const {stack, cpu} = data.samples,
    {samples, clocks} = sampleWeights();
  const lane = laneOfCpus(),
    hidden = lanes();
  for (let i = from; i < to; ++i) {
    if (lane[cpu[i]] === hidden) continue;
    sums.samples[stack[i]] += times * samples[i];
    sums.clocks[stack[i]] += times * clocks[i];
  }
}

const distance = (sums, first, last) =>
  Math.abs(sums.first - first) + Math.abs(sums.last - last);

// Makes (sums) those of [first, last): from what they were, from all, or from
// none, whichever is least work. Sums of integers are exact.
function moveSums(sums, first, last) {
  const least = Math.min(
    distance(sums, first, last),
    distance(wholeSums, first, last),
    last - first,
  );
  if (least === last - first) {
    sums.samples.fill(0);
    sums.clocks.fill(0);
    sums.first = sums.last = first;
  } else if (least < distance(sums, first, last)) {
    copySums(sums, wholeSums);
  }
  addSamples(sums, first, Math.min(sums.first, last), 1);
  addSamples(sums, sums.first, Math.min(first, sums.last), -1);
  addSamples(sums, Math.max(sums.last, first), last, 1);
  addSamples(sums, Math.max(last, sums.first), sums.last, -1);
  sums.first = first;
  sums.last = last;
}

// "hits" are the samples of "self".
const SUMS = ['self', 'hits', 'total', 'exits', 'base', 'baseSelf'];

function newWeights(count) {
  const numbers = {};
  for (const name of [...SUMS, 'width'])
    numbers[name] = new Float64Array(count);
  return numbers;
}

// Nodes whose function is not among their callers: a recursive function's
// total counts only these.
function findOutermost(tree, functions) {
  const open = new Uint32Array(functions),
    found = new Uint8Array(tree.count);
  for (let i = 1; i < tree.count; ++i) {
    const f = tree.func[i];
    if (i < open[f]) continue;
    found[i] = 1;
    open[f] = tree.end[i];
  }
  return found;
}

let summed; // what sums are of

const sumsKey = () => `${view.cpu} ${sharesKey()}`;

// All samples of what is shown, and as if they were the range.
function sumWhole() {
  for (const sums of [wholeSums, rangeSums]) beginSums(sums);
  wholeSums.first = 0;
  wholeSums.last = data.samples.time.length;
  summed = sumsKey();
  addSamples(wholeSums, 0, wholeSums.last, 1);
  copySums(rangeSums, wholeSums);
}

function prepareWeights() {
  const stacks = data.stackNode.length;
  stackWeight = new Float64Array(stacks);
  stackRemoved = new Uint8Array(stacks);
  outermost = findOutermost(data.tree, data.functions.count);
  sumWhole();
  Object.assign(data.tree, newWeights(data.tree.count));
  Object.assign(data.functions, newWeights(data.functions.count));
}

function markRemoved() {
  stackRemoved.fill(0);
  for (const node of view.removed)
    for (let s = 0; s < stackRemoved.length; ++s)
      if (data.stackNode[s] >= node && data.stackNode[s] < data.tree.end[node])
        stackRemoved[s] = 1;
}

// Samples of the range: [first, last).
function shownSamples() {
  const {time} = data.samples;
  if (!view.range) return [0, time.length];
  return view.range.map((clock) => firstAtLeast(time, clock));
}

function weighStacks() {
  if (summed !== sumsKey()) sumWhole();
  moveSums(rangeSums, ...shownSamples());
  const amounts = countsTime() ? rangeSums.clocks : rangeSums.samples;
  weights.count = 0;
  for (let s = 0; s < stackWeight.length; ++s) {
    stackWeight[s] = stackRemoved[s] ? 0 : amounts[s];
    if (!stackRemoved[s]) weights.count += rangeSums.samples[s];
  }
}

function addBase(tree) {
  const amounts = view.byTime ? data.baseClocks : data.baseSamples;
  weights.baseCount = 0;
  for (let s = 0; s < stackWeight.length; ++s) {
    if (stackRemoved[s]) continue;
    tree.base[data.stackNode[s]] += amounts[s];
    tree.baseSelf[data.stackNode[s]] += amounts[s];
    weights.baseCount += data.baseSamples[s];
  }
}

// Sums over what is below; widths are shares. Of two sides a width is the
// mean of both shares, so that what disappeared is still visible.
function addUp(tree) {
  const {parent, total, exits, base, width} = tree;
  for (let i = tree.count - 1; i > 0; --i) {
    total[parent[i]] += total[i];
    exits[parent[i]] += exits[i];
    base[parent[i]] += base[i];
  }
  const unit = 1 / (weights.sum || 1),
    baseUnit = 1 / (weights.baseSum || 1);
  for (let i = 0; i < tree.count; ++i)
    width[i] = isCompared()
      ? (total[i] * unit + base[i] * baseUnit) / 2
      : total[i] * unit;
}

function addFunctions(tree) {
  const functions = data.functions;
  for (const name of SUMS) functions[name].fill(0);
  for (let i = 1; i < tree.count; ++i) {
    const f = tree.func[i];
    functions.self[f] += tree.self[i];
    functions.hits[f] += tree.hits[i];
    functions.baseSelf[f] += tree.baseSelf[i];
    if (!outermost[i]) continue;
    functions.total[f] += tree.total[i];
    functions.base[f] += tree.base[i];
    functions.exits[f] += tree.exits[i];
  }
}

function weigh() {
  const tree = data.tree;
  for (const name of SUMS) tree[name].fill(0);
  weighStacks();
  for (let s = 0; s < stackWeight.length; ++s) {
    const node = data.stackNode[s];
    tree.self[node] += stackWeight[s];
    if (!stackRemoved[s]) tree.hits[node] += rangeSums.samples[s];
    tree.total[node] += stackWeight[s];
    if (data.stackExits[s]) tree.exits[node] += stackWeight[s];
  }
  if (data.head.diff) addBase(tree);
  if (isBoth()) addOutside(tree);
  weights.sum = stackWeight.reduce((sum, one) => sum + one, 0);
  weights.baseSum = tree.base.reduce((sum, one) => sum + one, 0);
  addUp(tree);
  addFunctions(tree);
  if (isBoth()) addOnly(tree);
}

const shareOf = (weight) => (weights.sum ? weight / weights.sum : 0);
const baseShareOf = (weight) =>
  weights.baseSum ? weight / weights.baseSum : 0;

// How a share changed: {by, low, high, sure}. It is sure if its interval does
// not hold 0; the interval is so wide that all of them are right together.
function changeOf(total, base) {
  const part = Math.min(1, shareOf(total));
  const before = Math.min(1, baseShareOf(base));
  const {count, baseCount} = weights,
    {z} = data.head;
  const [low, high] = differenceInterval(part, count, before, baseCount, z);
  const sure = low > 0 || high < 0;
  return {by: part - before, part, before, low, high, sure};
}

function weightText(weight) {
  if (countsTime()) return secondsText(weight / data.head.clock_hz);
  return samplesText(weight);
}

// ---- differences of shares, and how sure they are.

const pointsText = (part) =>
  (part < 0 ? '\u2212' : '+') + Math.abs(100 * part).toFixed(2);

// The interval of the difference of two parts: Newcombe 1998, method 10.
function differenceInterval(part, count, base, baseCount, z) {
  const [low, high] = interval(part, count, z);
  const [baseLow, baseHigh] = interval(base, baseCount, z);
  const difference = part - base;
  return [
    difference - Math.hypot(part - low, baseHigh - base),
    difference + Math.hypot(high - part, base - baseLow),
  ];
}
