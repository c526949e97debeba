// SPDX-License-Identifier: Apache-2.0
// Samples of several CPUs: of all or of one; in the timeline each CPU has a
// lane, unless there are too many. From both sides a lane has two parts.

const LANES_MAX = 16;
const LANE = 24; // pixels
const LANE_OF_SIDES = 40;
const LANE_GAP = 3;

const hasCpus = () => data.head.cpus.length > 1 && !data.head.diff;

const hasLanes = () =>
  hasCpus() && view.cpu < 0 && data.head.cpus.length <= LANES_MAX;
const lanes = () => (hasLanes() ? data.head.cpus.length : 1);

// CPUs whose samples are in one lane.
const cpusInLane = () =>
  hasLanes() || view.cpu >= 0 ? 1 : data.head.cpus.length || 1;

// The lane of each CPU, by its number; of those that are not shown, the one
// after the last.
function laneOfCpus() {
  const lane = new Uint16Array(Math.max(0, ...data.head.cpus) + 1);
  data.head.cpus.forEach((cpu, i) => {
    if (view.cpu >= 0) lane[cpu] = cpu === view.cpu ? 0 : lanes();
    else lane[cpu] = hasLanes() ? i : 0;
  });
  return lane;
}

function sizeLanes() {
  $('timeline').style.height = hasLanes()
    ? `${(isBoth() ? LANE_OF_SIDES : LANE) * lanes() + AXIS + 6}px`
    : '';
}

// What is of the CPUs that are shown.
const ofCpusShown = (list) =>
  list.filter(({cpu}) => view.cpu < 0 || cpu === view.cpu);
const lossesShown = () => ofCpusShown(data.losses);

// What was lost in each lane, behind its name.
function paintLaneLosses(context, height, losses, colour) {
  const high = (height - AXIS) / data.head.cpus.length;
  data.head.cpus.forEach((cpu, lane) => {
    const lost = losses.filter((loss) => loss.cpu === cpu);
    paintLosses(context, [lane * high, high], lost, colour);
  });
}

function paintLanes(context, height, fills, {bars, count, most, lanes}) {
  const high = (height - AXIS) / lanes,
    each = count * fills.length;
  for (let lane = 0; lane < lanes; ++lane) {
    const counted = {
      count,
      most,
      bars: bars.subarray(lane * each, (lane + 1) * each),
    };
    const bottom = (lane + 1) * high;
    paintBars(context, bottom, bottom - high + LANE_GAP, fills, counted);
    context.fillStyle = palette.line;
    context.fillRect(0, bottom, lineWidth(), 1);
  }
}

// Over what is drawn, so that it can be read.
function nameLanes(context, height) {
  const high = (height - AXIS) / data.head.cpus.length;
  data.head.cpus.forEach((cpu, lane) =>
    nameLane(context, `CPU ${cpu}`, lane * high + high / 2 + 1),
  );
}

function nameLane(context, text, y) {
  context.font = FONT.replace('12px', '11px');
  context.globalAlpha = 0.8;
  context.fillStyle = palette.panel;
  context.fillRect(2, y - 7, context.measureText(text).width + 8, 14);
  context.globalAlpha = 1;
  context.fillStyle = palette.ink;
  context.fillText(text, 6, y);
}

function setCpu(cpu) {
  view.cpu = cpu;
  changed('weights');
}

function nextCpu() {
  if (!hasCpus()) return;
  const there = [-1, ...data.head.cpus];
  setCpu(there[(there.indexOf(view.cpu) + 1) % there.length]);
}

function showCpus() {
  $('cpus').hidden = !hasCpus();
  for (const cpu of data.head.cpus) $('cpu').append(new Option(cpu, cpu));
}
