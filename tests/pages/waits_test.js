// SPDX-License-Identifier: Apache-2.0
// Where tasks were suspended: of one, and of all as a flame graph. In the trace
// each task has one of three stacks, by its number (tests/tool/make_tasks.c).
'use strict';

const path = require('node:path');
const {assert, onPage, work} = require('./browser.js');
const {timelineOf} = require('./timeline_model.js');

const CALLER = /^0x0*104000$/,
  LEAVES = [1, 2, 3].map(
    (i) => new RegExp(`^0x0*${(0x105000 + 64 * i).toString(16)}$`),
  );
const WAIT = 3,
  READY = 4; // of enum tasks_state

const fresh = (what, hash, check) => onPage(what, 'waits.html' + hash, check);

// The boxes of the flame graph below each other at (part) of its width.
async function boxesAt(page, part) {
  await page.waitForSelector('#panel[data-done]');
  await page.locator('#icicle').scrollIntoViewIfNeeded();
  const frame = await page.box('#icicle'),
    titles = [];
  for (let y = 8; y < frame.height; y += 17) {
    await page.mouse.move(frame.x + part * frame.width, frame.y + y);
    titles.push(await page.getAttribute('#icicle', 'title'));
  }
  return titles.map((title) => (title || '').replace(/: [^:]*$/, ''));
}

module.exports = async () => {
  const {model} = await timelineOf(path.join(work, 'waits.html')),
    {objects, spans, head} = model;
  const waits = [...spans.state.keys()].filter(
    (i) => spans.stack[i] && spans.state[i] === WAIT,
  );
  const task = spans.object[waits[0]];

  await fresh('a task shows where it waits', `#o=${task}`, async (page) => {
    const frames = await page.locator('#waits li').allTextContents();
    assert.strictEqual(frames.length, 2);
    assert.match(frames[0], LEAVES[objects.id[task] % 3]);
    assert.match(frames[1], CALLER);
    const count = waits.filter((i) => spans.object[i] === task).length;
    await page.has('#waits', new RegExp(`waits for the disk.*\\b${count}\\b`));
  });
  await fresh('waits are a flame graph', '#p=stacks', async (page) => {
    await page.click('#stacks-waits');
    const isAsleep = (i) =>
      spans.object[i] > 2 && [WAIT, READY].includes(spans.state[i]);
    const clocks = [...spans.state.keys()]
      .filter((i) => isAsleep(i) && spans.end[i] > spans.begin[i])
      .reduce((sum, i) => sum + spans.end[i] - spans.begin[i], 0);
    await page.has('#stacks-of', 'of all objects');
    const said = await page.text('#stacks-of'),
      [, number, unit] = said.match(/([\d.]+) (ms|s|µs),/),
      scale = {s: 1, ms: 1e-3}[unit] || 1e-6;
    const seconds = clocks / head.clock_hz;
    assert(Math.abs(number * scale - seconds) < 0.02 * seconds, said);
    const boxes = await boxesAt(page, 0.02);
    assert.strictEqual(boxes[0], 'all');
    assert.match(boxes[1], /^handler_/);
    assert.match(boxes[2], CALLER);
    assert(
      LEAVES.some((leaf) => leaf.test(boxes[3])),
      boxes.join(),
    );
    assert.strictEqual(boxes[4], 'waits for the disk');
  });
  await fresh('by keys, and of one task', `#o=${task}`, async (page) => {
    await page.keys('v');
    assert.match(await page.hash(), /p=stacks/);
    await page.keys('v');
    assert.match(await page.hash(), /v=1/);
    const boxes = await boxesAt(page, 0.5);
    assert.match(boxes[3], LEAVES[objects.id[task] % 3]);
    await page.keys('v');
    await page.drawn();
    assert.match(await page.hash(), /^((?!v=1).)*$/);
  });
};
