// SPDX-License-Identifier: Apache-2.0
// Counters (harness/made_counters.py): their lines, the marks on the lines of
// the objects that changed them, and which are drawn.
'use strict';

const path = require('node:path');
const {assert, closePage, onPage, openPage, work} = require('./browser.js');
const {timelineOf} = require('./timeline_model.js');

const PITCH = 26,
  TOP = 34, // of the first row, see host/pages/timeline/project.js
  BELOW = 7; // the middle of a mark, from that of its object's line

// Where the steps of counter (text) by the object named (name) are marked.
async function placesOf(page, {model, items}, text, name) {
  const {width} = await page.box('#canvas'),
    {steps, objects, head, lastTime} = model,
    places = [];
  for (let i = 0; i < steps.count; ++i) {
    const object = steps.object[i];
    if (head.names[steps.name[i]] !== text) continue;
    if (head.names[objects.site[object]] !== name) continue;
    const row = items.rows[items.ofObject[object]];
    places.push([
      (steps.time[i] / lastTime) * width,
      TOP + (row + 0.5) * PITCH + BELOW,
    ]);
  }
  return places;
}

// Whether each of (places) has a mark: another colour than beside it.
async function marked(page, places) {
  const beside = places.map(([x, y]) => [x + 9, y]),
    [here, there] = [
      await page.coloursOf('#canvas', places),
      await page.coloursOf('#canvas', beside),
    ];
  return here.map((colour, i) => String(colour) !== String(there[i]));
}

module.exports = async () => {
  const file = path.join(work, 'counters.html'),
    timeline = await timelineOf(file),
    {lastTime, head} = timeline.model;
  const whole = `counters.html#a=0&b=${lastTime}&w=`;
  const given = ['bytes #given', 'giver'],
    taken = ['bytes #taken', 'taker'],
    requests = ['<requests>', 'taker'];
  const places = (page, [text, name]) => placesOf(page, timeline, text, name);

  await onPage('each step is marked on who made it', whole, async (page) => {
    for (const [which, count] of [
      [given, 2],
      [taken, 2],
      [requests, 1],
    ]) {
      const at = await places(page, which);
      assert.strictEqual(at.length, count);
      assert.deepStrictEqual(await marked(page, at), Array(count).fill(true));
    }
    await page.has('#legend', 'step of a counter');
    await page.keys('c');
    const at = await places(page, given);
    assert.deepStrictEqual(await marked(page, at), [false, false]);
  });
  await onPage('a mark says its step', whole, async (page) => {
    const [, [x, y]] = await places(page, taken),
      frame = await page.box('#canvas');
    await page.mouse.move(frame.x + x, frame.y + y - BELOW);
    await page.has('#tip', 'bytes #taken +200: 300');
  });
  const taker = timeline.model.objects.site.findIndex(
    (site) => head.names[site] === 'taker',
  );
  const chosen = `${whole}&o=${taker}&p=object`;
  await onPage('an object says what it changed', chosen, async (page) => {
    assert.deepStrictEqual(await page.texts('#steps tr'), [
      'Counter Steps In all Last value',
      'bytes #taken 2 +300 300',
      '<requests> 1 \u22122 -2',
    ]);
  });
  await onPage('counters are drawn or not', whole, async (page) => {
    const coloursAt = async (one, which) =>
      (await one.coloursOf('#canvas', await places(one, which))).map(String);
    const ofTaken = await coloursAt(page, taken),
      ofGiven = await coloursAt(page, given);
    await page.hit('#counting summary');
    assert.deepStrictEqual(await page.texts('#counter-list label'), [
      'bytes #given',
      'bytes #taken',
      '<requests>',
    ]);
    await page.hit('#counter-list label:has-text("taken") input');
    await page.hit('#counting summary');
    assert.strictEqual(await page.kept('l'), '1');
    const again = await openPage('counters.html' + (await page.hash()));
    for (const one of [page, again]) {
      const off = await coloursAt(one, taken);
      assert(off.every((colour, i) => colour !== ofTaken[i]));
      assert.deepStrictEqual(await coloursAt(one, given), ofGiven);
    }
    await closePage(again);
  });
  const none = 'pending.html';
  await onPage('without counters there is no menu', none, async (page) => {
    assert(await page.isHidden('#counting'));
    assert(await page.isHidden('#counters'));
  });
};
