// SPDX-License-Identifier: Apache-2.0
// The timeline: samples over time, stacked by colour; gaps and stolen time are
// hatched. The rest of the page shows the selected range.

const BAR = 3; // pixels
const EDGE = 6; // pixels around the range's ends where they are taken
const AXIS = 17; // pixels for the times below
const FLOOR_CLOCKS = 1000; // the narrowest view

const line = {
  from: 0,
  to: 1, // clocks in sight
  bars: null, // canvas with all but the range
  key: '', // what the bars are made for
  stop: null, // ends their making
  drag: null, // {kind, at, range}
  clicked: null, // clock
};

const lineWidth = () => $('time').clientWidth;
const lineHeight = () => $('timeline').clientHeight;
const xOfClock = (clock) =>
  ((clock - line.from) / (line.to - line.from)) * lineWidth();
const clockOfX = (x) => line.from + (x / lineWidth()) * (line.to - line.from);

function beginTimeline() {
  line.from = 0;
  line.to = Math.max(1, data.head.clocks);
}

// Of each stack, which of the bar's colours it has; and the colours.
function barColours() {
  const {func} = data.tree,
    leaf = (s) => func[data.stackNode[s]];
  const of = new Uint8Array(data.stackNode.length);
  if (search.found) {
    const inside = matchedBelow();
    of.forEach((_, s) => {
      of[s] = inside[data.stackNode[s]] ? 0 : 1;
    });
    return {of, fills: [palette.found, fillOf(GREY, -0.5, 1)]};
  }
  if (view.colour === 'exits') {
    of.forEach((_, s) => {
      of[s] = data.stackExits[s] ? 0 : 1;
    });
    return {of, fills: [fillOf(35, -0.4, 1), fillOf(GREY, -0.5, 1)]};
  }
  if (view.colour === 'sides') return {of, fills: [sidesFill(0, -0.5)]};
  if (view.colour === 'change') return {of, fills: [fillOf(250, -0.4, 0.6)]};
  const last = Math.min(categories.list.length, HUES.length + 1);
  of.forEach((_, s) => {
    const f = leaf(s);
    of[s] = f < 0 ? last : Math.min(last, categories.ofFunction[f]);
  });
  const fills = Array.from({length: last + 1}, (_, i) =>
    fillOf(categories.list[i] ? categories.list[i].hue : GREY, -0.5, 1),
  );
  return {of, fills};
}

const BAR_SAMPLES = 1 << 15; // counted before the page may do something else

// Samples by lane, bar and colour; and the height of the whole time. In slices,
// for it is a pass over all samples in sight.
function* countBars(of, colours) {
  const {time, stack, cpu} = data.samples,
    {samples} = sampleWeights();
  const count = Math.ceil(lineWidth() / BAR),
    rows = lanes(),
    lane = laneOfCpus(),
    bars = new Float64Array((rows + 1) * count * colours);
  const unit = lineWidth() / (line.to - line.from) / BAR;
  const last = firstAtLeast(time, line.to);
  for (let i = firstAtLeast(time, line.from); i < last; ++i) {
    if (stackRemoved[stack[i]]) continue;
    const bar = lane[cpu[i]] * count + Math.floor((time[i] - line.from) * unit);
    bars[bar * colours + of[stack[i]]] += samples[i];
    if (i % BAR_SAMPLES === 0) yield;
  }
  const due =
    (cpusInLane() * data.head.hz * BAR * (line.to - line.from)) /
    lineWidth() /
    data.head.clock_hz;
  let most = Math.max(due, 1);
  for (let bar = 0; bar < rows * count; ++bar) {
    let sum = 0;
    for (let c = 0; c < colours; ++c) sum += bars[bar * colours + c];
    most = Math.max(most, sum);
  }
  return {bars, count, most, lanes: rows};
}

// Bars that stand on (bottom); the highest ends at (top).
function paintBars(context, bottom, top, fills, {bars, count, most}) {
  const unit = (bottom - top) / most;
  for (let bar = 0; bar < count; ++bar) {
    let y = bottom;
    for (let c = 0; c < fills.length; ++c) {
      const high = bars[bar * fills.length + c] * unit;
      if (high === 0) continue;
      context.fillStyle = fills[c];
      context.fillRect(bar * BAR, y - high, BAR, high);
      y -= high;
    }
  }
}

// Bands for (losses); adjacent ones are merged, since there may be very many.
// In a band that begins at (top) and is (high).
function paintLosses(context, [top, high], losses, colour) {
  let until = -10;
  const hatching = hatch(context, colour);
  for (const loss of losses) {
    const x = Math.max(xOfClock(loss.from), until);
    const end = Math.max(xOfClock(loss.to), x + 2);
    if (end < 0 || x > lineWidth() || end - until < 2) continue;
    context.globalAlpha = 0.16;
    context.fillStyle = colour;
    context.fillRect(x, top, end - x, high);
    context.globalAlpha = 0.9;
    context.fillStyle = hatching;
    context.fillRect(x, top, end - x, high);
    until = end;
  }
  context.globalAlpha = 1;
}

function paintAxis(context, height) {
  const hz = data.head.clock_hz,
    [from, to] = [line.from / hz, line.to / hz];
  const {ticks, step} = ticksOf(from, to, ((to - from) * 90) / lineWidth());
  context.fillStyle = palette.soft;
  context.font = FONT.replace('12px', '11px');
  context.fillRect(0, height - AXIS, lineWidth(), 0.5);
  for (const tick of ticks) {
    const x = xOfClock(tick * hz);
    context.fillRect(x, height - AXIS, 1, 4);
    const text = secondsText(tick, step, to);
    if (x + context.measureText(text).width + 6 < lineWidth())
      context.fillText(text, x + 4, height - AXIS / 2 + 1);
  }
}

const barsKey = () =>
  [
    ...[line.from, line.to, lineWidth(), devicePixelRatio, dark],
    ...[view.colour, view.removed.join('.'), search.shown],
    ...[view.cpu, sharesKey()],
  ].join();

function paintBackground(fills, counted) {
  const height = lineHeight(),
    {bad, stolen} = palette;
  line.bars ||= make('canvas');
  const context = sized(line.bars, lineWidth(), height);
  if (isBoth()) paintStrips(context, height, fills, counted);
  else if (counted.lanes > 1) paintLanes(context, height, fills, counted);
  else paintBars(context, height - AXIS, 6, fills, counted);
  if (isBoth()) return paintAxis(context, height);
  const losses = lossesShown(),
    gaps = losses.filter((loss) => !isStolen(loss)),
    inLanes = counted.lanes > 1,
    paint = inLanes ? paintLaneLosses : paintLosses,
    where = inLanes ? height : [0, height - AXIS];
  paint(context, where, losses.filter(isStolen), stolen);
  paint(context, where, gaps, bad);
  if (inLanes) nameLanes(context, height);
  paintAxis(context, height);
}

// Renews the bars where something has changed. Until they are counted those of
// before are shown.
function renewBars() {
  const key = barsKey();
  if (line.key === key) return;
  line.key = key;
  if (line.stop) line.stop();
  const {of, fills} = barColours();
  let isLate = false;
  line.stop = inSlices(countBars(of, fills.length), (counted) => {
    paintBackground(fills, counted);
    if (isLate) repaintTimeline();
  });
  isLate = true;
}

function paintRange(context, height) {
  if (!view.range) return;
  const [from, to] = view.range.map(xOfClock),
    bottom = height - AXIS;
  context.fillStyle = palette.panel;
  context.globalAlpha = 0.72;
  context.fillRect(0, 0, Math.max(0, from), bottom);
  context.fillRect(to, 0, Math.max(0, lineWidth() - to), bottom);
  context.globalAlpha = 1;
  context.fillStyle = palette.accent;
  context.fillRect(from - 1, 0, 2, bottom);
  context.fillRect(to - 1, 0, 2, bottom);
  for (const x of [from, to]) {
    context.beginPath();
    context.roundRect(x - 3.5, bottom / 2 - 10, 7, 20, 3.5);
    context.fill();
  }
}

function paintTimeline() {
  const height = lineHeight();
  const context = sized($('timeline'), lineWidth(), height);
  renewBars();
  if (line.bars) context.drawImage(line.bars, 0, 0, lineWidth(), height);
  paintRange(context, height);
  describeRange();
}

const repaintTimeline = perFrame(paintTimeline);

function describeRange() {
  const {clocks, clock_hz: hz} = data.head;
  const [from, to] = view.range || [0, clocks];
  const [begin, end] = [from, to].map((clock) => secondsText(clock / hz));
  const ms = (clock) => Math.round((clock / hz) * 1e3);
  Object.assign($('timeline'), {
    ariaValueMax: ms(clocks),
    ariaValueNow: ms(from),
    ariaValueText: `${view.range ? '' : 'all: '}${begin} to ${end}`,
  });
}

// (range) in clocks, null = all; it stays inside the trace.
function setRange(range) {
  if (range) {
    const [from, to] = range.map((clock) =>
      Math.round(clamp(clock, 0, data.head.clocks)),
    );
    range = to > from ? [from, to] : null;
  }
  view.range = range;
  changed('weights');
}

// (range), moved as far as it stays inside the trace.
const movedBy = (range, clocks) => {
  const by = clamp(clocks, -range[0], data.head.clocks - range[1]);
  return range.map((end) => end + by);
};

// By keys: moves or resizes by a part of what is in sight.
function nudge(step, grow) {
  const unit = (line.to - line.from) / 40;
  const [from, to] = view.range || [
    line.from + 16 * unit,
    line.from + 24 * unit,
  ];
  if (!view.range) setRange([from, to]);
  else if (grow) setRange([from, Math.max(from + unit / 8, to + step * unit)]);
  else setRange(movedBy([from, to], step * unit));
}

function zoomTime(times, at) {
  const all = Math.max(1, data.head.clocks);
  const span = clamp((line.to - line.from) * times, FLOOR_CLOCKS, all);
  const part = (at - line.from) / (line.to - line.from);
  line.from = clamp(at - part * span, 0, all - span);
  line.to = line.from + span;
  repaintTimeline();
}

function panTime(part) {
  const {from, to} = line;
  [line.from, line.to] = movedBy([from, to], part * (to - from));
  repaintTimeline();
}

// What keys zoom around: the last click; else the range; else the middle.
const middleOfTime = () =>
  line.clicked !== null && line.clicked >= line.from && line.clicked <= line.to
    ? line.clicked
    : view.range
      ? (view.range[0] + view.range[1]) / 2
      : (line.from + line.to) / 2;

function listenToFingers() {
  listenToPinch(
    $('timeline'),
    () => {
      line.drag = null;
      hideTip();
    },
    ({x, dx, times}) => {
      zoomTime(times, clockOfX(lineX({clientX: x})));
      panTime(-dx / lineWidth());
    },
  );
}

function lineX(event) {
  return event.clientX - $('timeline').getBoundingClientRect().left;
}

function kindAt(x) {
  if (!view.range) return 'new';
  const [from, to] = view.range.map(xOfClock);
  if (Math.abs(x - from) < EDGE) return 'from';
  if (Math.abs(x - to) < EDGE) return 'to';
  return x > from && x < to ? 'move' : 'new';
}

function dragTo(x) {
  const {kind, at, range} = line.drag,
    clock = clockOfX(x);
  const sorted = (a, b) => (a < b ? [a, b] : [b, a]);
  if (kind === 'from') setRange(sorted(clock, range[1]));
  else if (kind === 'to') setRange(sorted(range[0], clock));
  else if (kind === 'new') setRange(sorted(clockOfX(at), clock));
  else setRange(movedBy(range, clock - clockOfX(at)));
}

function endDrag(event) {
  const x = lineX(event),
    {kind, at} = line.drag;
  line.drag = null;
  if (Math.abs(x - at) >= 3) {
    line.clicked = null; // the range is what it is about
    return;
  }
  line.clicked = clockOfX(x);
  if (kind === 'new') setRange(null);
}

function listenToTimeline() {
  const canvas = $('timeline');
  listenToFingers();
  const pointermove = (event) => {
    const x = lineX(event);
    if (line.drag) {
      const {kind, at} = line.drag;
      if (kind !== 'new' || Math.abs(x - at) >= 3) dragTo(x);
      return;
    }
    canvas.style.cursor =
      {new: 'crosshair', move: 'grab'}[kindAt(x)] || 'ew-resize';
    showTimeTip(clockOfX(x), event);
  };
  listen(canvas, {
    pointerdown: (event) => {
      const x = lineX(event);
      canvas.setPointerCapture(event.pointerId);
      line.drag = {kind: kindAt(x), at: x, range: view.range};
    },
    pointermove,
    pointerup: (event) => {
      if (line.drag) endDrag(event);
    },
    pointercancel: () => {
      line.drag = null;
    },
    pointerleave: hideTip,
    dblclick: () => setRange(null),
  });
  listenToWheel(canvas, panTime, (times, event) =>
    zoomTime(times, clockOfX(lineX(event))),
  );
}
