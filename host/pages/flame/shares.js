// SPDX-License-Identifier: Apache-2.0
// What the shares are of. All samples by their own time; the time that went by
// (latency); what the other CPUs did while some were in a function (blame); or
// the samples that were taken with interrupts off. The weights are those of
// profile/ticks.h, and of `parasite report`.

const IDLE = '[idle]'; // a halted CPU

const hasTicks = () => Boolean(data.head.ticks);
const hasIrqsOff = () => data.head.irqs_off && !isCompared();

// Whether what several CPUs did at once decides; then time alone is shared.
const isJoined = () => view.shares === 'latency' || view.shares === 'blame';
const countsTime = () => view.byTime || isJoined();
// Whether shares have intervals: waits are all known, and samples of one tick
// that share its time are not independent of each other.
const isUnsure = () => !data.head.waits && !data.head.joined && !isJoined();

const canBlame = (f) => hasTicks() && f >= 0 && !isPseudo(f);
function hasShares(name) {
  if (name === 'off') return hasIrqsOff();
  if (name === 'blame') return canBlame(view.blamed);
  return name === 'all' || hasTicks();
}

// Of each sample the tick that it was joined in, from 1 on, and whether
// interrupts were off; of each tick its clocks, samples, and busy ones.
function joinedTicks(columns) {
  const {head} = columns;
  const ticks = {};
  if (head.irqs_off)
    ticks.irqsOff = Uint8Array.from(columns.plain('sample.irqs_off'));
  if (!head.ticks) return ticks;
  ticks.of = Uint32Array.from(columns.changes('sample.tick'));
  for (const name of ['clocks', 'count', 'busy'])
    ticks[name] = columns.plain('tick.' + name);
  return ticks;
}

// By stack: whether it is of a halted CPU.
const idleStacks = () =>
  Uint8Array.from(data.stackNode, (node) => {
    const f = data.tree.func[node];
    return f >= 0 && data.functions.names[f] === IDLE ? 1 : 0;
  });

// By stack: whether the function is in it.
function stacksIn(f) {
  const {func, parent, count} = data.tree,
    inside = new Uint8Array(count);
  for (let i = 1; i < count; ++i)
    inside[i] = func[i] === f || inside[parent[i]] ? 1 : 0;
  return Uint8Array.from(data.stackNode, (node) => inside[node]);
}

// The time of a tick is divided by the CPUs that were busy, or if none was by
// all.
function weighByLatency(clocks) {
  const {stack} = data.samples,
    idle = idleStacks(),
    ticks = data.ticks;
  for (let i = 0; i < clocks.length; ++i) {
    const tick = ticks.of[i] - 1;
    if (tick < 0 || (ticks.busy[tick] && idle[stack[i]])) continue;
    const among = ticks.busy[tick] || ticks.count[tick];
    clocks[i] = Math.floor((ticks.clocks[tick] + (among >> 1)) / among);
  }
}

// The time of those in the function is divided among the others that were
// busy, or if none was by those that were halted; if all were in it, it stays.
function weighByBlame(clocks) {
  const {stack} = data.samples,
    idle = idleStacks(),
    within = stacksIn(view.blamed);
  const ticks = data.ticks,
    inTick = new Uint32Array(ticks.clocks.length);
  for (let i = 0; i < clocks.length; ++i)
    if (ticks.of[i] && within[stack[i]]) ++inTick[ticks.of[i] - 1];
  const left = Float64Array.from(inTick, (count, t) => count * ticks.clocks[t]);
  const among = Uint32Array.from(inTick, (count, t) =>
    count === ticks.count[t]
      ? count
      : ticks.busy[t] - count || ticks.count[t] - count,
  );
  for (let i = 0; i < clocks.length; ++i) {
    const tick = ticks.of[i] - 1;
    if (tick < 0 || !inTick[tick]) continue;
    const isAlone = inTick[tick] === ticks.count[tick],
      toIdle = !isAlone && ticks.busy[tick] === inTick[tick];
    if (isAlone !== Boolean(within[stack[i]])) continue;
    if (!isAlone && toIdle !== Boolean(idle[stack[i]])) continue;
    clocks[i] = Math.floor(left[tick] / among[tick]--);
    left[tick] -= clocks[i];
  }
}

const weighed = {key: 'all', samples: null, clocks: null};
const sharesKey = () =>
  view.shares === 'blame' ? `blame ${view.blamed}` : view.shares;

// What each sample counts for: {samples, clocks}.
function sampleWeights() {
  const {samples, clocks} = data.samples,
    {irqsOff} = data.ticks;
  if (view.shares === 'all') return data.samples;
  if (weighed.key === sharesKey()) return weighed;
  weighed.key = sharesKey();
  weighed.clocks = new Float64Array(clocks.length);
  if (view.shares === 'off')
    weighed.clocks.set(clocks.map((of, i) => (irqsOff[i] ? of : 0)));
  else if (view.shares === 'latency') weighByLatency(weighed.clocks);
  else weighByBlame(weighed.clocks);
  const counts =
    view.shares === 'off' ? (i) => irqsOff[i] : (i) => weighed.clocks[i] > 0;
  weighed.samples = samples.map((count, i) => (counts(i) ? count : 0));
  return weighed;
}

function setShares(name) {
  view.shares = name;
  changed('weights');
}

function nextShares() {
  const there = SHARES.filter(hasShares);
  setShares(there[(there.indexOf(view.shares) + 1) % there.length]);
}

// What the others did while some were in the function that is chosen.
function blameChosen() {
  if (!canBlame(view.func)) return;
  view.blamed = view.func;
  view.zoom = 0;
  view.sandwich = -1;
  setShares('blame');
}

function showShares() {
  $('shares').hidden = !hasTicks() && !hasIrqsOff();
  for (const option of $('of').options) {
    option.hidden = !hasShares(option.value);
    if (option.value === 'blame' && !option.hidden)
      option.textContent = `while in ${blamedName()}`;
  }
  $('of').value = view.shares;
  $('samples').disabled = isJoined();
}

const blamedName = () => data.functions.names[view.blamed].slice(0, 40);

// What the shares rest on, for the notes: [[words, reason]].
function sharesNote() {
  const {ticks, clock_hz: hz} = data.head;
  const us = (clocks) => ((clocks / hz) * 1e6).toFixed(1) + ' \u00b5s';
  if (view.shares === 'off')
    return [['Only samples with interrupts off', 'All others are in no share']];
  if (!isJoined()) return [];
  const error =
    ticks.clock_error === null
      ? 'the error of the CPUs\u2019 clocks is not known'
      : `clocks differ by at most ${ticks.clock_error.toFixed(1)} \u00b5s`;
  const what =
    view.shares === 'latency'
      ? 'Latency: of CPUs busy at once each counts for a part'
      : `What other CPUs did while some were in ${blamedName()}`;
  return [
    [
      `${what}; ${shareText(ticks.joined / ticks.samples)} of the samples ` +
        'are joined',
      `The rest is in no share: not all CPUs have one within ` +
        `${us(ticks.bound)}. Skew: ${us(ticks.median)} (median), ` +
        `${us(ticks.worst)} (99 %); ${error}`,
    ],
  ];
}
