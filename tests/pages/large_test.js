// SPDX-License-Identifier: Apache-2.0
// A million samples, a hundred thousand stacks: no action costs more than one
// pass over them, weighing not even that, and what may cost more is done in
// slices. This counts work; how long the page is blocked is measured by
// bench/page_block.js.
'use strict';

const {test} = require('./tap.js');
const {assert, closePage, openPage, read} = require('./browser.js');
const {countEffort, effortOf, slicesOf, within} = require('./effort.js');

const SAMPLES = 1000000,
  NODES = 102000, // and as many stacks, at most
  FUNCTIONS = 4096,
  ROWS = 60, // of the table in sight, at most
  BOXES = 5000; // of the graph in sight, at most

// Work of all blocks. A pass over the nodes or functions has several.
const SCENE = 6 * NODES, // a tree is laid out and painted
  CALLS = 20 * NODES, // a function's callers and callees are listed
  BARS = 4 * SAMPLES, // samples are counted by time and colour, in slices
  WEIGH = 16 * NODES, // all is weighed, laid out and listed
  RANGE = 2 * SAMPLES; // the sums follow a range: half of the samples, at most

// Keys in one task, as if pressed faster than the page can draw.
const press =
  (...keys) =>
  (page) =>
    page.evaluate((pressed) => {
      for (const key of pressed)
        document.body.dispatchEvent(
          new KeyboardEvent('keydown', {key, bubbles: true}),
        );
    }, keys);

// (count) pointer or wheel events in one task, from (x0) to (x1) of an element.
const burst = (page, id, kind, count, [x0, x1], y) =>
  page.evaluate(
    ([element, type, times, from, to, top]) => {
      const target = document.querySelector(element);
      const frame = target.getBoundingClientRect();
      const Kind = type === 'wheel' ? WheelEvent : PointerEvent;
      for (let i = 1; i <= times; ++i)
        target.dispatchEvent(
          new Kind(type, {
            clientX: frame.x + from + ((to - from) * i) / times,
            clientY: frame.y + top,
            deltaY: type === 'wheel' ? -60 : 0,
            bubbles: true,
            cancelable: true,
          }),
        );
    },
    [id, kind, count, x0, x1, y],
  );

const none = {weigh: 0, moveSums: 0};
const weighed = {weigh: 1, layOut: 1, paintScene: [1, 2], rowOf: [1, ROWS]};
const painted = {paintScene: 1, paintTimeline: [0, 2], paintBox: [1, BOXES]};

async function searching(page) {
  await page.evaluate(() => {
    const {exec} = RegExp.prototype;
    window.matches = 0;
    RegExp.prototype.exec = function (text) {
      window.matches += this.source === 'l.*a';
      return exec.call(this, text);
    };
  });
  const effort = await effortOf(page, async () => {
    await page.fill('#regex', 'l.*a');
    await page.waitForSelector('#matched.found');
  });
  assert.strictEqual(await page.evaluate(() => window.matches), 0);
  assert.strictEqual(page.workers().length, 1);
  within(effort, {
    most: SAMPLES,
    total: BARS,
    calls: {...none, tellMatched: 1, matchedBelow: 1, rowOf: [0, ROWS]},
  });
  await page.fill('#regex', '');
}

async function dragging(page) {
  const frame = await page.box('#timeline');
  await page.mouse.move(frame.x + 200, frame.y + 30);
  await page.mouse.down();
  const effort = await effortOf(page, () =>
    burst(page, '#timeline', 'pointermove', 40, [210, 900], 30),
  );
  await page.mouse.up();
  within(effort, {
    most: SAMPLES / 2,
    total: WEIGH + RANGE,
    calls: {...weighed, dragTo: 40, countBars: 0},
  });
}

async function allOfTime(page) {
  const effort = await effortOf(page, press('0', '0', '0'));
  within(effort, {
    most: 2 * NODES,
    total: WEIGH,
    calls: {...weighed, setRange: 3, countBars: 0},
  });
}

async function zooming(page) {
  const frame = await page.box('#graph');
  const spot = [frame.x + 200, frame.y + frame.height - 60];
  await page.mouse.move(...spot);
  const zoom = await effortOf(page, () => page.mouse.click(...spot));
  within(zoom, {
    most: 4 * NODES,
    total: SCENE + CALLS,
    calls: {...none, ...painted, paintScene: [1, 2], layOut: 1},
  });
  const pointing = await effortOf(page, () =>
    burst(page, '#graph', 'pointermove', 30, [100, 700], 500),
  );
  within(pointing, {
    most: BOXES,
    total: 20 * BOXES,
    calls: {...none, ...painted, layOut: 0, spotAt: 30},
  });
}

async function sandwich(page) {
  await effortOf(page, press('ArrowUp', 'ArrowUp'));
  const slices = await slicesOf(page, press('v'));
  assert(slices.length > NODES / 2048, `${slices.length} slices`);
  within(slices[0], {most: 4 * NODES, total: CALLS}); // the callers' list too
  slices.shift();
  slices.sort((a, b) => b.total - a.total);
  within(slices[0], {most: 2 * NODES, total: 8 * NODES});
  await press('Escape')(page);
}

async function zoomingTime(page) {
  const effort = await effortOf(page, () =>
    burst(page, '#timeline', 'wheel', 10, [400, 400], 30),
  );
  within(effort, {
    most: SAMPLES,
    total: BARS,
    calls: {...none, zoomTime: 10, countBars: 1, paintScene: 0},
  });
}

async function colouring(page) {
  const slices = await slicesOf(page, async () => {
    await press('c')(page);
    await page.evaluate(
      () =>
        new Promise((done) =>
          requestAnimationFrame(() => requestAnimationFrame(done)),
        ),
    );
  });
  slices.shift(); // all but the bars, and their first slice
  assert(slices.length > 10, `${slices.length} slices`);
  for (const slice of slices) assert(slice.most <= SAMPLES / 8, slice.where);
  for (let i = 0; i < 2; ++i)
    within(await effortOf(page, press('c')), {
      most: SAMPLES,
      total: BARS,
      calls: {...none, ...painted, makeCategories: 1, countBars: 1, layOut: 0},
    });
}

async function sorting(page) {
  for (let i = 0; i < 3; ++i)
    within(await effortOf(page, press('o')), {
      most: 2 * FUNCTIONS + 1,
      total: 12 * FUNCTIONS,
      calls: {...none, fillTable: 1, rowOf: [1, ROWS], paintScene: 0},
    });
}

async function counting(page) {
  within(await effortOf(page, press('m', 'm')), {
    most: 2 * NODES,
    total: WEIGH,
    calls: {...weighed, setByTime: 2, countBars: 0},
  });
}

async function turning(page) {
  within(await effortOf(page, press('i', 'i')), {
    most: NODES,
    total: SCENE,
    calls: {...none, ...painted, setIcicle: 2, layOut: 2, rowOf: 0},
  });
}

async function removing(page) {
  await effortOf(page, press('ArrowUp', 'ArrowUp'));
  for (const key of ['x', 'u'])
    within(await effortOf(page, press(key)), {
      most: SAMPLES,
      total: WEIGH + BARS,
      calls: {...weighed, markRemoved: 1, countBars: 1},
    });
}

const checks = [
  ['search is one pass, and matches in a worker', searching],
  ['a dragged range passes over half of the samples', dragging],
  ['all of the time needs no pass over the samples', allOfTime],
  ['zoom is one pass, pointing only paints', zooming],
  ['a sandwich is made in slices', sandwich],
  ['zooming the time line is one pass', zoomingTime],
  ['other colours are one pass each, in slices', colouring],
  ['other sorting only makes rows in sight', sorting],
  ['samples or time needs no pass over the samples', counting],
  ['flame or icicle only lays out', turning],
  ['removing is one pass', removing],
];

module.exports = async () => {
  const page = await openPage('large.html', {before: countEffort});
  await test('a million samples of 100,000 stacks are shown', async () => {
    await page.has('#facts', /^1,000,000 samples/);
    const said = read('large.log');
    const stacks = Number(said.match(/([\d,]+) stacks/)[1].replace(/,/g, ''));
    assert(stacks >= 100000, said);
  });
  await test('a second pass is noticed', async () => {
    const effort = await effortOf(page, async () => {
      await press('0')(page);
      await page.drawn();
      await press('0')(page);
    });
    assert.throws(() => within(effort, {most: 2 * NODES, total: 2 * WEIGH}));
    within(effort, {most: 4 * NODES, total: 2 * WEIGH, calls: {weigh: 2}});
  });
  for (const [what, check] of checks)
    await test(what, async () => {
      await effortOf(page, press('r'));
      await check(page);
    });
  await test('nothing went wrong meanwhile', async () => {
    await page.drawn();
    assert.deepStrictEqual(page.problems, []);
  });
  await closePage(page);
};
