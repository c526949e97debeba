// SPDX-License-Identifier: Apache-2.0
// Interrupts and the event loop: their rows, and what the panels say of them.
//
// A mark is an interrupt from irq_enter to irq_exit. From then on its row is
// orange until what it left work to runs; the arrow leads there.

const IRQ = 10; // pixels high, of a mark

// Marks closer than a pixel are one; of lines of waiting the longest is drawn.
function paintIrqs(pen, vector, y) {
  const {irqs} = model,
    list = listOfObject(by.irq, vector),
    last = (i) => Math.max(irqs.end[i], irqs.ran[i]);
  let until = -10,
    ready = -10;
  const first = Math.max(0, firstOf(list, irqs.begin, port.from) - 1);
  for (let at = first; at < list.length; ++at) {
    const i = list[at];
    if (irqs.begin[i] > port.to) break;
    if (last(i) < port.from) continue;
    const x0 = Math.max(-2, paintX(irqs.begin[i])),
      x1 = Math.min(port.width + 2, paintX(irqs.end[i])),
      x2 = Math.min(port.width + 2, paintX(last(i)));
    if (x2 > Math.max(x1, ready) + 0.5) {
      pen.fillStyle = palette.ready;
      pen.fillRect(x1, y - LINE, x2 - x1, 2 * LINE);
      ready = x2;
    }
    if (x1 < until + 0.5) continue;
    until = Math.max(x1, x0 + 1);
    pen.fillStyle = palette.irq;
    pen.fillRect(x0, y - IRQ / 2, Math.max(1, x1 - x0), IRQ);
  }
}

// The objects that interrupts of (vector) have left work to.
const servedBy = (vector) =>
  new Set(
    Array.from(listOfObject(by.irq, vector), (i) => model.irqs.to[i]).filter(
      (o) => o,
    ),
  );

// The name of a row, with what its interrupts are served by.
function rowTitle(o) {
  if (!isVector(o)) return objectName(o);
  const {objects, head} = model,
    names = new Set();
  for (const to of servedBy(o))
    names.add(head.names[objects.label[to]] || siteName(to));
  return [objectName(o), ...names].join(', ');
}

// The interrupt of (vector) that began last before (time), or some pixels after
// it; else the first.
function irqAt(vector, time) {
  const list = listOfObject(by.irq, vector),
    slack = timeOf(8) - timeOf(0),
    at = firstOf(list, model.irqs.begin, time + slack);
  return list[Math.max(0, at - 1)];
}

// What is said of a row, and of the interrupt at (time).
function systemText(o, time) {
  const {irqs} = model,
    count = by.irq.from[o + 1] - by.irq.from[o];
  if (isLoop(o)) return loopText(o, time);
  const all = plural(count, 'interrupt', 'interrupts');
  if (time === undefined) return `${objectName(o)}, ${all}`;
  const i = irqAt(o, time),
    parts = [
      `${all}; the one before the pointer: at ${timeText(irqs.begin[i])}`,
      `handled in ${clocksText(irqs.end[i] - irqs.begin[i])}`,
    ];
  if (irqs.in[i]) parts.push(`interrupted ${objectName(irqs.in[i])}`);
  if (irqs.to[i])
    parts.push(
      `left work to ${objectName(irqs.to[i])}, which ` +
        (irqs.ran[i] < 0
          ? 'did not run any more'
          : `ran ${clocksText(irqs.ran[i] - irqs.begin[i])} after it`),
    );
  if (irqs.woke[i] >= 0)
    parts.push(
      'ended the idleness of the event loop, which ran ' +
        `${clocksText(irqs.woke[i] - irqs.begin[i])} after it`,
    );
  return parts.join(', ');
}

const LOOP_WORDS = {
  running: 'runs itself',
  waiting: 'idle',
  unknown: 'unknown, events are missing',
};

function loopText(o, time) {
  if (time === undefined) return `the ${objectName(o)}`;
  const {spans} = model,
    i = spanAt(o, time),
    name = Object.keys(TASKS_STATE)[spans.state[i]];
  if (i < 0 || spans.end[i] < time) return 'runs tasks or callbacks';
  const clocks = spans.end[i] - spans.begin[i];
  return `${LOOP_WORDS[name] || name} for ${clocksText(clocks)}`;
}

// ---- the panel of a row that is chosen

function showSystem(panel, o) {
  panel.append(make('h2', rowTitle(o)));
  if (isLoop(o)) {
    panel.append(
      make('h3', 'Its time'),
      ...splitTable(splitOfLoop(o)),
      make('h3', 'What ended its idleness'),
      wakersTable(o),
    );
  } else {
    panel.append(listOfFacts(factsOfVector(o)), ...latestIrqs(o));
  }
  panel.append(...stepPart(o), make('h3', 'Events'), eventTable(o));
}

function splitOfLoop(o) {
  const {objects, spans} = model,
    split = new Split(),
    whole = objects.end[o] - objects.begin[o];
  each(by.span, o, (i) => {
    const clocks = spans.end[i] - spans.begin[i],
      state = spans.state[i];
    if (state === TASKS_STATE.running) split.add(PART.run, o, '', clocks);
    else if (state === TASKS_STATE.unknown)
      split.add(PART.lost, 0, 'events are missing', clocks);
    else split.add(PART.wait, 0, 'an interrupt: idle', clocks);
  });
  split.add(PART.paused, 0, ': tasks and callbacks', whole - split.whole);
  const stolen = stolenIn(objects.part[o], objects.begin[o], objects.end[o]);
  return {parts: split.list(), whole: split.whole, stolen};
}

const medianAnd99 = (times) => {
  const sorted = Float64Array.from(times).sort();
  return [partText(sorted, 0.5), partText(sorted, 0.99)];
};

function wakersTable(loop) {
  const {irqs, objects} = model,
    part = objects.part[loop],
    delays = new Map();
  for (let i = 0; i < irqs.count; ++i) {
    const vector = irqs.vector[i];
    if (irqs.woke[i] < 0 || objects.part[vector] !== part) continue;
    if (!delays.has(vector)) delays.set(vector, []);
    delays.get(vector).push(irqs.woke[i] - irqs.begin[i]);
  }
  return tableOf(
    'wakers',
    ['Interrupt', 'Count', 'Ran after', 'p99'],
    [...delays]
      .sort((a, b) => a[0] - b[0])
      .map(([vector, times]) => [
        objectLink(vector),
        countText(times.length),
        ...medianAnd99(times),
      ]),
  );
}

// What interrupts of (vector) took: {handled, ran, woke}.
function sumsOfVector(vector) {
  const {irqs} = model,
    sum = {handled: [], ran: [], woke: 0};
  each(by.irq, vector, (i) => {
    sum.handled.push(irqs.end[i] - irqs.begin[i]);
    if (irqs.ran[i] >= 0) sum.ran.push(irqs.ran[i] - irqs.begin[i]);
    sum.woke += Number(irqs.woke[i] >= 0);
  });
  return sum;
}

function factsOfVector(vector) {
  const {handled, ran, woke} = sumsOfVector(vector),
    of = (times) => {
      const [p50, p99] = medianAnd99(times);
      return `${p50} (median), ${p99} (p99)`;
    };
  const facts = [
    ['Interrupts', countText(handled.length)],
    ['Handled in', of(handled)],
    ['Ended idleness', countText(woke)],
  ];
  const served = [...servedBy(vector)].flatMap((o) => [objectLink(o), ' ']);
  if (served.length) facts.push(['Left work to', ...served]);
  if (ran.length) facts.push(['Which ran after', of(ran)]);
  return facts;
}

// ---- the panel of all interrupts

function showInterrupts(panel) {
  const {head, objects, irqs} = model,
    first = objects.count - head.vectors.length;
  const table = tableOf(
    'vectors',
    ['Interrupt', 'Count', 'Handled in', 'p99', 'Ran after', 'p99'],
    head.vectors.map((_, i) => {
      const {handled, ran} = sumsOfVector(first + i);
      return [
        objectLink(first + i),
        countText(handled.length),
        ...medianAnd99(handled),
        ...medianAnd99(ran),
      ];
    }),
  );
  panel.append(
    make(
      'p',
      'From the interrupt to the end of its handler, and to the task or ' +
        'callback that it left its work to.',
    ),
    irqs.count ? table : make('p', 'The trace has none.'),
    ...latestIrqs(0),
  );
}

// Interrupts in sight; of (vector), if that is not 0.
function latestIrqs(vector) {
  const {irqs} = model,
    rows = [];
  for (let i = firstAtLeast(irqs.begin, view.from); i < irqs.count; ++i) {
    if (irqs.begin[i] > view.to || rows.length === 100) break;
    if (vector && irqs.vector[i] !== vector) continue;
    rows.push([
      timeText(irqs.begin[i]),
      objectLink(irqs.vector[i]),
      clocksText(irqs.end[i] - irqs.begin[i]),
      objectLink(irqs.to[i]),
      irqs.ran[i] < 0 ? '–' : clocksText(irqs.ran[i] - irqs.begin[i]),
    ]);
  }
  const names = ['Time', 'Vector', 'Handled in', 'Led to', 'After'];
  return rows.length
    ? [make('h3', 'In sight'), tableOf('irqs', names, rows)]
    : [];
}
