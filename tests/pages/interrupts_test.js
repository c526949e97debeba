// SPDX-License-Identifier: Apache-2.0
// Rows of interrupts and of the event loop, on a page of a stream that says
// when each of them happens (harness/made_profile.py).
'use strict';

const path = require('node:path');
const {test} = require('./tap.js');
const {assert, onPage, work} = require('./browser.js');
const {timelineOf} = require('./timeline_model.js');

const MS = 10000; // clocks
const PAGE = `interrupted.html#a=0&b=${105 * MS}`;
const ROW = {timer: 0, disk: 1, loop: 2}; // irq 32, irq 43
const MARGIN_TOP = 34,
  PITCH = 26;

const fresh = (what, check) => onPage(what, PAGE, check);
const yOf = (row) => MARGIN_TOP + (row + 0.5) * PITCH;

async function placeOf(page, row, ms) {
  const {x, y, width} = await page.box('#canvas');
  return [x + (ms / 105) * width, y + yOf(row)];
}

// The names of colours of the theme that are on (row) at these times.
async function coloursAt(page, row, list, up = 0) {
  const {width} = await page.box('#canvas'),
    places = list.map((ms) => [(ms / 105) * width, yOf(row) - up]);
  const found = await page.coloursOf('#canvas', places);
  const names = await page.evaluate(() =>
    ['run', 'ready', 'irq', 'object'].map((name) => {
      const element = document.createElement('i');
      element.style.color = `var(--${name})`;
      document.body.append(element);
      const {color} = getComputedStyle(element);
      element.remove();
      return [name, [...color.match(/\d+/g), 255].join()];
    }),
  );
  return found.map(
    (colour) => (names.find(([, one]) => one === String(colour)) || ['?'])[0],
  );
}

const rows = async (page) =>
  Number(await page.locator('body').getAttribute('data-rows'));

const pictureOf = (page) =>
  page.evaluate(() => document.getElementById('canvas').toDataURL());

async function placing() {
  await fresh('interrupts and the loop are above all', async (page) => {
    for (const [row, name] of [
      [ROW.timer, /^irq 32$/],
      [ROW.disk, /^irq 43, disk$/],
      [ROW.loop, /^event loop$/],
      [3, /^disk 1$/],
      [4, /^worker 2$/],
    ]) {
      await page.hit(await placeOf(page, row, 30));
      await page.has('#panel h2', name);
    }
    assert.match(await page.text('#facts'), / of 3 objects in /);
  });
  await fresh('keys reach them', async (page) => {
    await page.hit(await placeOf(page, 3, 30));
    await page.keys('ArrowUp');
    await page.has('#panel h2', 'event loop');
    await page.keys('ArrowUp');
    await page.has('#panel h2', 'irq 43');
    await page.has('#spoken', 'irq 43, 3 interrupts');
  });
  await fresh('rows of interrupts can be hidden', async (page) => {
    const all = await rows(page);
    await page.hit('#interrupts');
    assert.strictEqual(await rows(page), all - 2);
    assert.strictEqual(await page.kept('n'), '0');
    await page.hit(await placeOf(page, 0, 30));
    await page.has('#panel h2', 'event loop');
    await page.keys('i');
    assert.strictEqual(await rows(page), all);
  });
  await onPage('each trace has its own', 'twice.html', async (page) => {
    await page.locator('#tab-interrupts').click();
    const names = await page.texts('#vectors tr td:first-child');
    assert.deepStrictEqual(names, ['irq 32', 'irq 43', 'irq 32', 'irq 43']);
    const begins = (await page.texts('#irqs tr td:first-child')).map(
      parseFloat,
    );
    assert.strictEqual(begins.length, 8);
    assert(
      begins.every((at, i) => i === 0 || begins[i - 1] <= at),
      begins,
    );
  });
}

async function painting() {
  await fresh('a mark, and orange until its work is begun', async (page) => {
    // from 10 to 12 ms handled, until 16; from 26 to 28, until 42; at the end
    // for ever
    const up = 4; // above the line
    assert.deepStrictEqual(
      await coloursAt(page, ROW.disk, [10.9, 26.9, 76], up),
      ['irq', 'irq', 'irq'],
    );
    assert.deepStrictEqual(await coloursAt(page, ROW.disk, [13.5, 35]), [
      'ready',
      'ready',
    ]);
    assert.deepStrictEqual(await coloursAt(page, ROW.disk, [5, 18, 45, 90]), [
      'object',
      'object',
      'object',
      'object',
    ]);
    // the callback was ready for as long
    assert.deepStrictEqual(await coloursAt(page, 3, [13.5, 35]), [
      'ready',
      'ready',
    ]);
  });
  await fresh('the loop is white where it runs itself', async (page) => {
    assert.deepStrictEqual(
      await coloursAt(page, ROW.loop, [15, 20.5, 62, 70]),
      ['run', 'run', 'run', 'run'],
    );
    assert.deepStrictEqual(await coloursAt(page, ROW.loop, [5, 18, 30, 55]), [
      'object',
      'object',
      'object',
      'object',
    ]);
  });
  await fresh('arrows from interrupts are drawn', async (page) => {
    for (const kind of ['defer', 'wake', 'read']) {
      const before = await pictureOf(page);
      await page.locator('#arrows summary').click();
      await page.hit(`#arrow-list label:text-is("${kind}")`);
      await page.locator('#arrows summary').click();
      await page.drawn();
      assert.notStrictEqual(await pictureOf(page), before, kind);
    }
  });
}

const cellsOf = (page, id) =>
  page.$$eval(`#${id} tr`, (lines) =>
    lines.map((line) => [...line.children].map((cell) => cell.textContent)),
  );

async function telling() {
  await fresh('a vector says how it was served', async (page) => {
    await page.hit(await placeOf(page, ROW.disk, 5));
    const facts = (await page.texts('#panel dl'))[0];
    assert.match(facts, /Interrupts 3 /);
    assert.match(facts, /Handled in 2\.00 ms \(median\), 2\.00 ms \(p99\)/);
    assert.match(facts, /Ended idleness 1 /);
    assert.match(facts, /Left work to disk 1 /);
    assert.match(facts, /Which ran after 6\.00 ms \(median\), 16\.0 ms/);
    assert.deepStrictEqual(
      (await cellsOf(page, 'irqs')).slice(1).map((line) => line.slice(1)),
      [
        ['irq 43', '2.00 ms', 'disk 1', '6.00 ms'],
        ['irq 43', '2.00 ms', 'disk 1', '16.0 ms'],
        ['irq 43', '2.00 ms', 'disk 1', '–'],
      ],
    );
    await page.locator('#panel dl .link').click();
    await page.has('#panel h2', 'disk 1');
  });
  await fresh('the loop says what it did', async (page) => {
    await page.hit(await placeOf(page, ROW.loop, 5));
    assert.deepStrictEqual((await cellsOf(page, 'wakers')).slice(1), [
      ['irq 32', '1', '2.00 ms', '2.00 ms'],
      ['irq 43', '1', '4.00 ms', '4.00 ms'],
    ]);
    const split = await page.texts('#split tr');
    assert.match(split.join('; '), /running 4[0-9]\.\d ms/);
    assert.match(split.join('; '), /idle 26\.0 ms/);
    assert.match(split.join('; '), /running others, inside it: tasks .* ms/);
    const events = (await page.texts('#events tr')).join('; ');
    for (const event of ['create → answer', 'read ← answer', 'wake ← irq'])
      assert(events.includes(event), events);
  });
  await fresh('the pointer names what it is at', async (page) => {
    await page.mouse.move(...(await placeOf(page, ROW.disk, 27)));
    await page.has('#tip', /irq 43 3 interrupts; .* at 26\.0/);
    await page.has('#tip', /handled in 2\.00 ms, interrupted worker 2/);
    await page.has('#tip', /left work to disk 1, which ran 16\.0 ms after it/);
    await page.mouse.move(...(await placeOf(page, ROW.disk, 79)));
    await page.has('#tip', /disk 1, which did not run any more/);
    await page.mouse.move(...(await placeOf(page, ROW.disk, 11)));
    await page.has('#tip', /ended the idleness .* ran 4\.00 ms after it/);
    await page.mouse.move(...(await placeOf(page, ROW.loop, 5)));
    await page.has('#tip', /event loop idle for 14\.0 ms/);
    await page.mouse.move(...(await placeOf(page, ROW.loop, 18)));
    await page.has('#tip', /event loop runs tasks or callbacks/);
  });
  await fresh('the panel leads to their rows', async (page) => {
    await page.keys('4');
    assert.deepStrictEqual((await cellsOf(page, 'vectors')).slice(1), [
      ['irq 32', '1', '1.00 ms', '1.00 ms', '–', '–'],
      ['irq 43', '3', '2.00 ms', '2.00 ms', '6.00 ms', '16.0 ms'],
    ]);
    await page.locator('#vectors .link').last().click();
    await page.has('#panel h2', 'irq 43, disk');
  });
}

// The picture takes those in sight as a range.
async function arrowsAreInOrder() {
  for (const name of ['interrupted', 'twice', 'pair', 'tasks']) {
    const {model} = await timelineOf(path.join(work, `${name}.html`)),
      {arrows, edges, irqs} = model,
      packets = arrows.type.filter((type) => type === 11).length, // packet
      wakes = irqs.woke.filter((time) => time >= 0).length;
    assert.strictEqual(arrows.count, edges.time.length + wakes + packets);
    assert(wakes > 0, name);
    assert(
      arrows.end.every((time, i) => i === 0 || arrows.end[i - 1] <= time),
      name,
    );
  }
}

module.exports = async () => {
  await test('arrows are in order of their ends', arrowsAreInOrder);
  await placing();
  await painting();
  await telling();
};
