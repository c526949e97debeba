// SPDX-License-Identifier: Apache-2.0
// Each CPU is a part of the picture, with rows for its interrupts, its event
// loop and its objects: on a stream of which everything is known, and against
// the lanes that `export` makes of random ones (harness/made_lanes.py).
'use strict';

const path = require('node:path');
const {test} = require('./tap.js');
const {assert, onPage, read, run, work} = require('./browser.js');
const {timelineOf} = require('./timeline_model.js');

const MS = 10000; // clocks
const PAGE = `lanes.html#a=0&b=${60 * MS}&c=0`;
const WILD = 4; // random traces
const MARGIN_TOP = 34,
  PITCH = 26;
const ROWS = [
  // with two between the CPUs
  [0, 'irq 48 of CPU 0'],
  [1, 'event loop of CPU 0'],
  [2, 'sender 1'],
  [3, 'answer 2'],
  [6, 'irq 50 of CPU 1'],
  [7, 'event loop of CPU 1'],
  [8, 'waiter 5'],
  [9, 'message 3'],
  [12, 'event loop of CPU 3'],
  [13, 'wanderer 4'],
];

const fresh = (what, check) => onPage(what, PAGE, check);
const yOf = (row) => MARGIN_TOP + (row + 0.5) * PITCH;

async function choose(page, row, ms) {
  const {x, y, width} = await page.box('#canvas');
  await page.hit([x + (ms / 60) * width, y + yOf(row)]);
}

async function placing() {
  await fresh('the rows of each CPU are a part', async (page) => {
    for (const [row, name] of ROWS) {
      await choose(page, row, 12);
      await page.has('#panel h2', name);
    }
    assert.match(await page.text('#facts'), / of 5 objects in /);
  });
  await fresh('keys go from one CPU to the next', async (page) => {
    await choose(page, 6, 9);
    await page.keys('ArrowUp');
    await page.has('#panel h2', 'answer 2');
    await page.keys('ArrowDown');
    await page.has('#panel h2', 'irq 50 of CPU 1');
  });
  await fresh('the ground is the idleness of its own CPU', async (page) => {
    const {width} = await page.box('#canvas');
    const at = (ms, row) => [(ms / 60) * width, yOf(row) + 9];
    const [idle0, busy0, idle1, busy1, pause, other] = (
      await page.coloursOf('#canvas', [
        ...[at(22, 1), at(8.5, 1), at(8.5, 7), at(22, 7)],
        ...[at(27, 7), at(27, 1)],
      ])
    ).map(String);
    assert.strictEqual(idle0, idle1);
    assert.strictEqual(busy0, busy1);
    assert.strictEqual(other, idle0);
    assert.notStrictEqual(idle0, busy0);
    assert(![idle0, busy0].includes(pause), pause);
  });
  await fresh('rows of interrupts can be hidden', async (page) => {
    await page.keys('i');
    await page.drawn();
    const rows = await page.locator('body').getAttribute('data-rows');
    assert.strictEqual(Number(rows), 12);
  });
}

async function telling() {
  await fresh('an object says on which CPUs it ran', async (page) => {
    await choose(page, 13, 10);
    assert.match((await page.texts('#panel dl'))[0], /CPU 3, 0/);
    await choose(page, 9, 15);
    assert.match((await page.texts('#panel dl'))[0], /CPU 1/);
  });
  await fresh('what held the loop was on the same CPU', async (page) => {
    await choose(page, 8, 15); // while the sender ran on CPU 0
    const life = (await page.texts('#split tr')).join('; ');
    assert.match(life, /loop held by message 3 8\.00 ms/);
    assert.doesNotMatch(life, /sender/);
  });
  await fresh('what woke the loop was on the same CPU', async (page) => {
    await choose(page, 7, 9);
    const wakers = (await page.texts('#wakers tr')).slice(1);
    assert.deepStrictEqual(wakers, ['irq 50 of CPU 1 1 1.00 ms 1.00 ms']);
  });
  await fresh('vectors are listed by CPU', async (page) => {
    await page.locator('#tab-interrupts').click();
    assert.deepStrictEqual(await page.texts('#vectors tr td:first-child'), [
      'irq 48 of CPU 0',
      'irq 50 of CPU 1',
    ]);
  });
  const both = `lanes_both.html#a=0&b=${60 * MS}&c=0`;
  await onPage(
    'a trace of one CPU has its rows beside them',
    both,
    async (page) => {
      await choose(page, 18, 30);
      await page.has('#panel h2', /^event loop$/);
      await choose(page, 7, 30);
      await page.has('#panel h2', 'event loop of CPU 1');
      await choose(page, 2, 10);
      assert.match(
        (await page.texts('#panel dl'))[0],
        /Trace \S*lanes.packets CPU 0/,
      );
    },
  );
  await test('a part has the names of its trace and CPU', async () => {
    const svg = read('lanes_both.svg'),
      names = [...svg.matchAll(/text-anchor="end">([^<]*)</g)];
    assert.deepStrictEqual(
      names.map(([, name]) => name),
      [
        ...[0, 1, 3].map((cpu) => `lanes.packets, CPU ${cpu}`),
        'interrupted.packets',
      ],
    );
  });
}

// Arrows from a row of one CPU to one of another, "create message 3".
function arrowsBetween({model}) {
  const {arrows, objects, head} = model,
    kinds = {0: 'create', 1: 'read', 3: 'resolve', 7: 'wake'};
  const isOf = (i) =>
    objects.part[arrows.from[i]] !== objects.part[arrows.to[i]];
  return [...arrows.type.keys()]
    .filter((i) => arrows.from[i] && isOf(i))
    .map((i) => {
      const [from, to] = [arrows.from[i], arrows.to[i]].map(
        (o) => head.parts[objects.part[o]].cpu,
      );
      const what = `${kinds[arrows.type[i]]} ${objects.id[arrows.to[i]]}`;
      return `${what}, ${from} to ${to}`;
    });
}

// Lines "LANE: FROM TO NAME" in clocks, as Perfetto would show them.
function lanesOf(packets) {
  const {traceEvents} = JSON.parse(run('export', '-f', 'chrome', packets)),
    names = new Map(),
    lines = [];
  for (const one of traceEvents)
    if (one.name === 'thread_name') names.set(one.tid, one.args.name);
  for (const {ph, tid, ts, dur, name} of traceEvents) {
    const [begin, end] = [ts, ts + dur].map((us) => Math.round(10 * us));
    if (ph === 'X') lines.push(`${names.get(tid)}: ${begin} ${end} ${name}`);
  }
  return lines.filter((line) =>
    /^(tasks|interrupts|pauses|event loop|lost) /.test(line),
  );
}

// The same of what the page draws.
function lanesOfPage({model}) {
  const {spans, irqs, objects, head} = model,
    lines = [];
  const add = (lane, part, begin, end, name) =>
    lines.push(
      `${lane} [cpu ${head.parts[part].cpu}]: ${begin} ${end} ${name}`,
    );
  const nameOf = (o) => {
    const {cpu} = head.parts[objects.part[o]];
    if (objects.system[o]) return cpu ? `[event loop ${cpu}]` : '[event loop]';
    const word = objects.label[o] || objects.site[o],
      name = head.names[word] || head.types[objects.type[o]];
    return `${name} ${objects.id[o]}`;
  };
  for (let i = 0; i < spans.count; ++i) {
    const [o, begin, end] = [spans.object[i], spans.begin[i], spans.end[i]],
      isLoop = objects.system[o] === 1;
    if (spans.state[i] === 1)
      add('tasks', spans.part[i], begin, end, nameOf(o));
    if (isLoop && spans.state[i] === 1)
      add('event loop', objects.part[o], begin, end, 'running');
    if (isLoop && spans.state[i] === 3)
      add('event loop', objects.part[o], begin, end, 'idle');
  }
  for (let i = 0; i < irqs.count; ++i) {
    const name = `irq ${objects.id[irqs.vector[i]]}`;
    add(
      'interrupts',
      objects.part[irqs.vector[i]],
      irqs.begin[i],
      irqs.end[i],
      name,
    );
  }
  for (const [part, list] of model.pauses.entries())
    list.begin.forEach((begin, i) =>
      add('pauses', part, begin, list.end[i], 'sleep'),
    );
  for (const [part, list] of model.losses.entries())
    list.begin.forEach((begin, i) =>
      add('lost', part, begin, list.end[i], 'lost'),
    );
  return lines;
}

async function lanesAreThose(name) {
  const timeline = await timelineOf(path.join(work, `${name}.html`)),
    page = lanesOfPage(timeline).sort(),
    wanted = lanesOf(path.join(work, `${name}.packets`)).sort(),
    lanes = new Set(wanted.map((line) => line.split(':')[0]));
  assert(lanes.size >= 9, [...lanes].join());
  assert.deepStrictEqual(page, wanted);
}

module.exports = async () => {
  await placing();
  await telling();
  await test('lanes are those that Perfetto shows', async () => {
    await lanesAreThose('lanes');
    for (let i = 1; i <= WILD; ++i) await lanesAreThose(`wild-${i}`);
  });
  await test('arrows go from CPU to CPU', async () => {
    const timeline = await timelineOf(path.join(work, 'lanes.html'));
    assert.deepStrictEqual(arrowsBetween(timeline).sort(), [
      'create 3, 0 to 1',
      'resolve 2, 1 to 0',
    ]);
    const svg = read('lanes.svg'), // from the message's row to the answer's
      [up] = svg.match(/class="a3" fill="none" d="M[^"]*"/g);
    const [, y0, y1] = up.match(/M[-\d.]+ ([\d.]+)L[-\d.]+ ([\d.]+)/);
    assert.strictEqual(Number(y0) - Number(y1), 6 * 22);
    for (const [, name] of ROWS)
      assert(svg.includes(`>${name}`), `${name} is in the picture`);
    for (const cpu of [0, 1, 3]) assert(svg.includes(`>CPU ${cpu}<`));
  });
};
