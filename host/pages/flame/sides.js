// SPDX-License-Identifier: Apache-2.0
// A guest from both sides: its own profiler's samples, and those that were
// taken from outside. What only the outside sees has a colour for each reason.

// By SIDES_KIND.
const SIDES_HUES = [250, 85, 25, 300, 200, 55, 150];

const isBoth = () => Boolean(data.head.both);
const isCompared = () => data.head.diff || isBoth();
const sidesFill = (kind, shade) =>
  kind === SIDES_KIND.both
    ? fillOf(250, shade, 0.35)
    : fillOf(SIDES_HUES[kind], shade - 0.6, 1.4);

function outsideOf(columns) {
  const from = columns.changes('window.from');
  const [kind, length] = ['kind', 'length'].map((name) =>
    columns.plain('window.' + name),
  );
  const several = columns.head.cpus.length > 1,
    cpus = (name, count) =>
      several ? columns.plain(name + '.cpu') : new Uint16Array(count);
  const cpu = cpus('window', from.length);
  return {
    time: columns.changes('outside.time'),
    stack: columns.plain('outside.stack'),
    clocks: columns.plain('outside.clocks'),
    kind: columns.plain('outside.kind'),
    cpu: cpus('outside', columns.plain('outside.kind').length),
    windows: Array.from(from, (begin, i) => ({
      kind: kind[i],
      cpu: cpu[i],
      from: begin,
      to: begin + length[i],
    })),
  };
}

// For each kind the weights of (count) nodes or functions.
const newOnly = (count) => SIDES_HUES.map(() => new Float64Array(count));

// Samples from outside between these clocks: [first, last).
function outsideSamples(from, to) {
  const {time} = data.outside;
  return [from, to].map((clock) => firstAtLeast(time, clock));
}

const outsideWeight = (i) => (view.byTime ? data.outside.clocks[i] : 1);

// Instead of addBase(): what is outside follows the range, too.
function addOutside(tree) {
  const {stack, kind, cpu} = data.outside;
  const lane = laneOfCpus(),
    hidden = lanes();
  const [first, last] = view.range
    ? outsideSamples(...view.range)
    : [0, stack.length];
  const {functions} = data;
  functions.onlySelf ||= new Float64Array(functions.count);
  functions.onlySelf.fill(0);
  tree.only ||= newOnly(tree.count);
  for (const list of tree.only) list.fill(0);
  weights.baseCount = 0;
  for (let i = first; i < last; ++i) {
    if (stackRemoved[stack[i]] || lane[cpu[i]] === hidden) continue;
    const node = data.stackNode[stack[i]],
      weight = outsideWeight(i);
    tree.base[node] += weight;
    tree.baseSelf[node] += weight;
    tree.only[kind[i]][node] += weight;
    if (kind[i] !== SIDES_KIND.both)
      functions.onlySelf[tree.func[node]] += weight;
    ++weights.baseCount;
  }
}

// Sums of each kind over what is below, and of functions.
function addOnly(tree) {
  const {functions} = data;
  functions.only ||= newOnly(functions.count);
  tree.only.forEach((list, kind) => {
    const sums = functions.only[kind];
    sums.fill(0);
    for (let i = tree.count - 1; i > 0; --i) {
      list[tree.parent[i]] += list[i];
      if (outermost[i]) sums[tree.func[i]] += list[i];
    }
  });
}

// What of a node only the outside sees: [kind, weight], the heaviest first.
// Trees of callers and callees know it by function only.
function onlyOf(tree, node) {
  const [lists, at] = tree.only
    ? [tree.only, node]
    : [data.functions.only, tree.func[node]];
  return lists
    .map((list, kind) => [kind, at < 0 ? 0 : list[at]])
    .filter(([kind, weight]) => kind !== SIDES_KIND.both && weight > 0)
    .sort((a, b) => b[1] - a[1]);
}

// A box has the colour of what only the outside sees if that is most of it.
function sidesColour(tree, node) {
  const only = onlyOf(tree, node),
    f = tree.func[node];
  const sum = only.reduce((total, [, weight]) => total + weight, 0);
  const shade = f < 0 ? 0.6 : shadeOfFunction(f) / 2;
  const whole = tree.only ? tree.base[node] : data.functions.base[f] || 0;
  if (2 * sum <= whole || !only.length)
    return sidesFill(SIDES_KIND.both, shade);
  return sidesFill(only[0][0], shade);
}

function sidesFacts(tree, node) {
  const base = tree.base[node];
  const facts = [
    ['Outside', `${shareText(baseShareOf(base))}, ${weightText(base)}`],
  ];
  if (tree.only)
    for (const [kind, weight] of onlyOf(tree, node))
      facts.push([
        'Only outside',
        `${data.head.both.kinds[kind]}: ${shareText(weight / base)} of it`,
      ]);
  return facts;
}

function onlyCell(f) {
  const part = baseShareOf(data.functions.onlySelf[f]);
  return numberCell(part, part ? shareText(part) : '');
}

function sidesLegend() {
  const {kinds} = data.head.both;
  const seen = new Set(data.outside.kind);
  return [
    ...kinds.flatMap((name, kind) =>
      kind === SIDES_KIND.both || seen.has(kind)
        ? [legendItem(sidesFill(kind, 0), name)]
        : [],
    ),
    make('li', 'width: mean of inside and outside'),
  ];
}

// How far the two clocks may be apart, for the notes.
function clockNote() {
  const {error, worst, readings, jumps, slack, ended} = data.head.both;
  const ms = (clocks) => ((clocks / data.head.clock_hz) * 1e3).toFixed(2);
  const how =
    slack < 0
      ? 'the clocks do not run alike: each reading counts by itself'
      : `their rates are taken to vary by ${shareText(slack)}; ` +
        plural(jumps, 'jump', 'jumps');
  const notes = [
    [
      `clocks agree to ${ms(error)} ms`,
      `The median of ${countText(readings)} readings; at worst ` +
        `${ms(worst)} ms. ${how}`,
    ],
  ];
  const wentOn = ({kind}) => kind === SIDES_KIND.after;
  if (!ended && data.outside.windows.some(wentOn))
    notes.push([
      'the guest went on after its last sample',
      'Its profiler did not say that it ended: the guest hung, or the ' +
        'rest of its trace was lost',
    ]);
  return notes;
}

// ---- the strip

const STRIP_GAP = 4; // pixels between the two

// Weights of samples from outside by lane, bar and kind.
function countOutside(count, unit) {
  const kinds = SIDES_HUES.length,
    rows = lanes(),
    lane = laneOfCpus(),
    bars = new Float64Array((rows + 1) * count * kinds);
  const {time, stack, kind, cpu} = data.outside;
  const [first, last] = outsideSamples(line.from, line.to);
  let most = 1;
  for (let i = first; i < last; ++i) {
    if (stackRemoved[stack[i]]) continue;
    const bar = lane[cpu[i]] * count + Math.floor((time[i] - line.from) * unit);
    ++bars[bar * kinds + kind[i]];
  }
  for (let bar = 0; bar < rows * count; ++bar) {
    let sum = 0;
    for (let k = 0; k < kinds; ++k) sum += bars[bar * kinds + k];
    most = Math.max(most, sum);
  }
  return {bars, count, most};
}

// The part of (counted) that is of one lane, with so many colours.
const ofLane = ({bars, count, most}, lane, colours) => ({
  count,
  most,
  bars: bars.subarray(lane * count * colours, (lane + 1) * count * colours),
});

// Both, one above the other, in each lane; what only the outside sees is behind
// them.
function paintStrips(context, height, fills, counted) {
  const outside = countOutside(
    counted.count,
    lineWidth() / (line.to - line.from) / BAR,
  );
  const high = (height - AXIS) / counted.lanes,
    lane = laneOfCpus();
  context.globalAlpha = 0.35;
  for (const {kind, cpu, from, to} of ofCpusShown(data.outside.windows)) {
    const [x, end] = [from, to].map(xOfClock);
    context.fillStyle = sidesFill(kind, 0);
    context.fillRect(x, lane[cpu] * high, Math.max(1, end - x), high);
  }
  context.globalAlpha = 1;
  for (let i = 0; i < counted.lanes; ++i)
    paintStrip(context, i, high, fills, counted, outside);
}

function paintStrip(context, lane, high, fills, counted, outside) {
  const top = lane * high,
    bottom = top + high,
    middle = Math.round(top + high / 2);
  const kinds = SIDES_HUES.map((_, kind) => sidesFill(kind, -0.5));
  const [above, below] = [
    ofLane(counted, lane, fills.length),
    ofLane(outside, lane, kinds.length),
  ];
  paintBars(context, middle - STRIP_GAP / 2, top + 6, fills, above);
  paintBars(context, bottom, middle + STRIP_GAP / 2 + 4, kinds, below);
  context.fillStyle = palette.line;
  context.fillRect(0, middle, lineWidth(), 1);
  if (lane > 0) {
    context.fillStyle = palette.soft;
    context.fillRect(0, Math.round(top), lineWidth(), 1);
  }
  if (counted.lanes > 1) {
    const cpu = `CPU ${data.head.cpus[lane]}`;
    nameLane(context, cpu + ' inside', top + 10);
    return nameLane(context, cpu + ' outside', middle + 11);
  }
  context.fillStyle = palette.soft;
  context.font = FONT.replace('12px', '11px');
  context.fillText('inside', 6, top + 10);
  context.fillText('outside', 6, middle + 11);
}

function windowFacts(clock, near) {
  return ofCpusShown(data.outside.windows)
    .filter(({from, to}) => from <= clock + near && to >= clock - near)
    .slice(0, 3)
    .map(({kind, from, to}) => [
      'Only outside',
      `${data.head.both.kinds[kind]}, ` +
        secondsText((to - from) / data.head.clock_hz),
    ]);
}

function showSides() {
  document.body.classList.toggle('both', isBoth());
  if (!isBoth()) return;
  $('by-change').textContent = 'Unseen';
  $('by-change').title =
    'Self, as seen from outside, where the inside sees nothing';
}
