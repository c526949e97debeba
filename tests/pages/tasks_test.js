// SPDX-License-Identifier: Apache-2.0
// The timeline of tasks: what is in it is compared with what the maker of the
// stream says that it wrote (tests/tool/make_tasks.c).
'use strict';

const {
  assert,
  closePage,
  number,
  onPage,
  openPage,
  read,
} = require('./browser.js');

const made = JSON.parse(read('tasks.json'));
const other = JSON.parse(read('other.json'));

const fresh = (what, check) => onPage(what, 'tasks.html', check);

const times = async (page) => [
  Number(await page.kept('a')),
  Number(await page.kept('b')),
];

const rows = async (page) =>
  Number(await page.locator('body').getAttribute('data-rows'));

// In the page: all of the canvas as a number, which changes if a pixel does.
function sumOfPixels() {
  const canvas = document.getElementById('canvas');
  const {data} = canvas
    .getContext('2d')
    .getImageData(0, 0, canvas.width, canvas.height);
  let sum = 0;
  for (const byte of data) sum = (sum * 31 + byte) >>> 0;
  return sum;
}

// Does (act) and waits until the canvas is another one.
async function repaints(page, act) {
  const before = await page.evaluate(sumOfPixels);
  await act();
  await page.drawn();
  await page.waitForFunction(`(${sumOfPixels})() !== ${before}`);
}

const FIRST_ROW = 102; // pixels: below the interrupts' row and the loop's

// Clicks on the first object found on a walk over the canvas.
async function clickObject(page) {
  const frame = await page.box('#canvas');
  for (let x = 60; x < frame.width; x += 37) {
    await page.mouse.move(frame.x + x, frame.y + FIRST_ROW);
    await page.drawn(30);
    if (await page.isHidden('#tip')) continue;
    await page.mouse.click(frame.x + x, frame.y + FIRST_ROW);
    await page.drawn();
    if (await page.kept('o')) return;
  }
  assert.fail('no object was hit');
}

async function choosing() {
  await fresh('events and objects are those that were made', async (page) => {
    const facts = await page.text('#facts');
    const [, objects] = facts.match(/of ([\d,]+) objects/);
    assert.strictEqual(number(objects), made.objects);
    assert(number(facts.match(/^([\d,]+) events/)[1]) >= made.events);
  });
  await fresh('a click chooses an object', async (page) => {
    await clickObject(page);
    const chosen = await page.kept('o');
    assert(Number(chosen) > 0);
    await page.has('#panel', 'Its life');
    await page.has('#panel', 'Critical path');
    assert.match(await page.text('#panel h2'), /^\w+ \d+$/);
  });
  await fresh('arrow keys choose neighbours', async (page) => {
    await page.keys('ArrowDown');
    const first = await page.kept('o');
    await page.keys('ArrowRight');
    const second = await page.kept('o');
    assert(first && second && first !== second, `${first} ${second}`);
    await page.keys('ArrowLeft');
    assert.strictEqual(await page.kept('o'), first);
    await page.keys('ArrowDown');
    assert.notStrictEqual(await page.kept('o'), first);
    await page.keys('Escape');
    assert.strictEqual(await page.kept('o'), null);
  });
  await fresh('links in the panel choose what they name', async (page) => {
    await page.keys('ArrowDown');
    const first = await page.kept('o');
    await page.locator('#events .link').first().click();
    await page.drawn();
    assert.notStrictEqual(await page.kept('o'), first);
  });
  await fresh('the address carries the view', async (page) => {
    await page.keys('ArrowDown', 'z', 'b', '3');
    const hash = await page.hash();
    const panel = await page.getAttribute('#tab-late', 'aria-selected');
    const again = await openPage('tasks.html' + hash);
    assert.strictEqual(await again.hash(), hash);
    assert.strictEqual(panel, 'true');
    assert.strictEqual(
      await again.getAttribute('#tab-late', 'aria-selected'),
      'true',
    );
    assert.strictEqual(await rows(again), await rows(page));
    await closePage(again);
  });
}

async function moving() {
  await fresh('keys and wheel zoom and move in time', async (page) => {
    await repaints(page, () => page.keys('w', 'w'));
    const [from, to] = await times(page);
    assert(to > from);
    await repaints(page, () => page.keys('d'));
    assert(Number(await page.kept('a')) > from);
    const frame = await page.box('#canvas');
    await page.mouse.move(frame.x + 200, frame.y + 100);
    await repaints(page, () => page.mouse.wheel(0, -600));
    const [a, b] = await times(page);
    assert(b - a < to - from, `${b - a} ${to - from}`);
    await repaints(page, () => page.keys('0'));
    assert.strictEqual(await page.kept('a'), null);
  });
  await fresh('dragging moves the picture', async (page) => {
    await page.keys('w', 'w', 'w');
    const from = Number(await page.kept('a'));
    const frame = await page.box('#canvas');
    await page.mouse.move(frame.x + 400, frame.y + 100);
    await page.mouse.down();
    await page.mouse.move(frame.x + 250, frame.y + 100, {steps: 4});
    await page.mouse.up();
    await page.drawn();
    assert(Number(await page.kept('a')) > from);
  });
  await fresh('Shift and dragging select a time', async (page) => {
    const frame = await page.box('#canvas');
    await page.keyboard.down('Shift');
    await page.mouse.move(frame.x + 300, frame.y + 100);
    await page.mouse.down();
    await page.mouse.move(frame.x + 500, frame.y + 100, {steps: 4});
    await page.mouse.up();
    await page.keyboard.up('Shift');
    await page.drawn();
    const [from, to] = (await page.kept('r')).split('-').map(Number);
    assert(to > from);
    await page.keys('5');
    await page.has('#panel', 'in the selected time');
    await page.keys('Escape');
    assert.strictEqual(await page.kept('r'), null);
  });
}

async function filtering() {
  await fresh('a site alone, and without it', async (page) => {
    const all = await rows(page);
    await page.keys('2');
    const line = page.locator('#sites tr').nth(1);
    await line.locator('text=only').click();
    await page.drawn();
    const alone = await rows(page);
    assert(alone < all, `${alone} of ${all} rows`);
    await page.hit('#filters button');
    assert.strictEqual(await rows(page), all);
    await page.keys('ArrowDown', 'h');
    await page.drawn();
    assert((await page.kept('x')).length > 0);
    await page.keys('r');
    await page.drawn();
    assert.strictEqual(await rows(page), all);
  });
  await fresh('objects by how they ended', async (page) => {
    await page.locator('#states summary').click();
    await page.hit('#state-list label:has-text("resolved")');
    assert.strictEqual((await page.kept('e')).includes('1'), false);
  });
  await fresh('search finds names', async (page) => {
    await page.keys('/');
    await page.keyboard.type('handler_3$');
    await page.has('#matched', /[1-9]/);
    await page.keyboard.press('Enter');
    await page.drawn();
    assert.match(await page.text('#panel h2'), /^handler_3 /);
    await page.keyboard.press('Enter');
    await page.has('#matched', '2 of');
  });
  await onPage('alike objects are a row', 'many.html', async (page) => {
    const closed = await rows(page);
    await page.keys('ArrowUp', 'ArrowUp');
    const frame = await page.box('#canvas');
    for (let y = 40; y < frame.height && !(await page.kept('q')); y += 9) {
      await page.mouse.click(frame.x + 300, frame.y + y);
      await page.drawn();
    }
    assert((await page.kept('q')) !== null, 'no group was opened');
    await page.has('#filters', 'open: ');
    await page.hit('#filters button');
    assert.strictEqual(await rows(page), closed);
    await page.keys('g');
    await page.drawn();
    assert((await rows(page)) !== closed);
  });
}

// Rows of a table as lists of texts.
const table = (page, id) =>
  page.$$eval(`#${id} tr`, (lines) =>
    lines.map((line) => [...line.children].map((cell) => cell.textContent)),
  );

async function explaining() {
  await fresh('the parts of a life are all of it', async (page) => {
    await page.keys('ArrowDown');
    const parts = (await table(page, 'split')).map((line) =>
      Number(line[2].replace(/[<% ]/g, '')),
    );
    const whole = parts.reduce((sum, part) => sum + part, 0);
    assert(Math.abs(whole - 100) < 0.5 + 0.01 * parts.length, `${whole} %`);
  });
  await fresh('sums by site', async (page) => {
    await page.keys('3');
    await page.waitForSelector('#panel[data-done]');
    const lines = (await table(page, 'late'))
      .slice(1)
      .filter((line) => line.length > 1); // the others are names of sites
    const objects = lines.reduce((sum, line) => sum + number(line[0]), 0);
    assert.strictEqual(objects, made.objects);
  });
  await fresh('the critical path is drawn and summed', async (page) => {
    await page.keys('ArrowDown');
    await repaints(page, () => page.keys('k'));
    await page.has('#path-toggle', 'Hide it');
    assert((await table(page, 'path')).length > 0);
    await repaints(page, () => page.locator('#path-toggle').click());
    await page.has('#path-toggle', 'Draw it');
  });
  await fresh('interrupts and what they led to', async (page) => {
    await page.keys('4');
    const lines = (await table(page, 'vectors')).slice(1);
    const count = lines.reduce((sum, line) => sum + number(line[1]), 0);
    assert.strictEqual(count, made.irqs);
  });
  await fresh('counts and response times', async (page) => {
    await page.locator('#tab-times').click();
    await page.waitForSelector('#panel[data-done]');
    const counts = new Map(
      (await table(page, 'counts')).map((line) => [line[0], number(line[1])]),
    );
    assert.strictEqual(counts.get('create'), made.objects);
    assert.strictEqual(counts.get('fail'), made.failed);
    assert.strictEqual(counts.get('run'), made.runs);
    assert(await page.locator('.chart rect').count());
    await page.locator('#until').selectOption('fail');
    await page.waitForSelector('#panel[data-done]');
    await page.has('#panel', `Pairs ${made.failed.toLocaleString('en-US')}`);
  });
  await fresh('samples of the selection', async (page) => {
    await page.keys('6');
    const all = number((await page.text('#stacks-of')).split(' ')[0]);
    assert(all > 0);
    assert((await page.box('#icicle')).height > 16);
    await page.keys('ArrowDown', 'x', '6');
    const some = number((await page.text('#stacks-of')).split(' ')[0]);
    assert(some < all, `${some} of ${all} samples`);
  });
}

async function drawing() {
  await fresh('counters, arrows and simplification', async (page) => {
    await repaints(page, () => page.keys('c'));
    await repaints(page, () => page.keys('c'));
    await page.locator('#arrows summary').click();
    await repaints(page, () =>
      page.locator('#arrow-list label:has-text("wake")').click(),
    );
    assert.match(await page.text('#legend'), /running.*ready.*waiting/s);
  });
  await fresh('both themes', async (page) => {
    await repaints(page, () => page.keys('t', 't'));
    assert.strictEqual(
      await page.evaluate(() => document.documentElement.dataset.theme),
      'dark',
    );
  });
  await fresh('the help names every key', async (page) => {
    await page.keys('?');
    assert((await page.locator('#help dt').count()) > 20);
    await page.keys('Escape');
  });
  await fresh('a picture can be saved', async (page) => {
    const [name] = await page.saved(() => page.click('#png'));
    assert.strictEqual(name, 'timeline.png');
  });
  const missing = (page) => page.has('#notes', /gaps? in the trace/);
  await onPage('what is missing is said and drawn', 'gap.html', missing);
  await onPage('two traces share the axis', 'both.html', async (page) => {
    const facts = await page.text('#facts');
    assert.strictEqual(
      number(facts.match(/of ([\d,]+) objects/)[1]),
      made.objects + other.objects,
    );
    await page.keys('ArrowDown');
    await page.has('#panel', 'Trace');
  });
}

module.exports = async () => {
  await choosing();
  await moving();
  await filtering();
  await explaining();
  await drawing();
};
