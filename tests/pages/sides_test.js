// SPDX-License-Identifier: Apache-2.0
// A guest from both sides: what only the outside sees.
'use strict';

const path = require('node:path');
const {
  assert,
  cellsOf,
  colourAt,
  has,
  onPage,
  press,
  text,
  untilDrawn,
  work,
} = require('./browser.js');

const seen = (what, name, hash, options, check) =>
  onPage(what, name, check, {hash, ...options});

// {name: [self, total, unseen]} of the table.
const rowsOf = async (page) =>
  Object.fromEntries(
    (await cellsOf(page)).map((cells) => [cells[3], cells.slice(0, 3)]),
  );

// Chooses a function of the table, and waits for what is said of it.
async function choose(page, name) {
  await page.click(`.row:has(.name:text-is("${name}"))`);
  await untilDrawn(page);
}

// The colour of the strip at a part of its width and height.
async function stripAt(page, x, y) {
  const box = await page.locator('#timeline').boundingBox();
  return colourAt(page, '#timeline', [
    box.x + x * box.width,
    box.y + y * box.height,
  ]);
}

module.exports = async () => {
  await seen(
    'what only the outside sees is said of each function',
    'both.html',
    '',
    {},
    async (page) => {
      const rows = await rowsOf(page);
      // of 1,126 samples from outside
      assert.strictEqual(rows.port[2], '4.44 %', 'interrupts off');
      assert.strictEqual(rows.recurse[2], '4.44 %', 'before the first');
      assert.strictEqual(rows.helper[2], '8.79 %', 'after the last');
      assert.strictEqual(rows.main[2], '', 'seen by both');
      await choose(page, 'main');
      await has(page, '#chosen', /Inside 99\.7 %, .* Outside 82\.2/);
      const box = await page.locator('#timeline').boundingBox();
      await page.mouse.move(box.x + 0.98 * box.width, box.y + 20);
      await has(page, '#tip', /Only outside after its last sample, \d+/);
    },
  );
  await seen(
    'the facts are those of both, and the clock has a note',
    'both.html',
    '',
    {},
    async (page) => {
      await has(page, '#facts', /^1,955 samples .* outside: 1,126 samples/);
      await has(page, '#notes', /clocks agree to 0\.\d\d ms/);
      await has(page, '#notes', /Inside: 7 ticks missed/);
      await has(page, '#notes', /Outside: nothing was lost/);
      const legend = await text(page, '#legend');
      for (const kind of [
        'seen by both',
        'before its first sample',
        'after its last sample',
        'interrupts off',
      ])
        assert(legend.includes(kind), legend);
      assert(!legend.includes('other CPUs'), legend);
    },
  );
  await seen(
    'the strip shows both, and times without samples inside',
    'both.html',
    '',
    {},
    async (page) => {
      // red at the end, above and below; nothing in the middle, above
      const [r, , b] = await stripAt(page, 0.985, 0.2);
      assert(r > b + 20, `${r} ${b}`);
      const middle = await stripAt(page, 0.5, 0.02);
      assert(Math.abs(middle[0] - middle[2]) < 12, String(middle));
      const first = await stripAt(page, 0.02, 0.2);
      assert(first[0] > first[2] + 10, String(first));
      await page.screenshot({path: path.join(work, 'both.png')});
    },
  );
  await seen(
    'a range restricts both sides',
    'both.html',
    '#r=6000000-6900000',
    {},
    async (page) => {
      // within what has interrupts off
      const rows = await rowsOf(page);
      assert.strictEqual(rows.port[2], '100.0 %');
      await has(page, '#facts', /outside: 45 samples/);
    },
  );
  await seen(
    'it can be coloured and sorted otherwise',
    'both.html',
    '',
    {scheme: 'dark'},
    async (page) => {
      assert.strictEqual(await page.inputValue('#colour'), 'sides');
      await press(page, 'c');
      assert.strictEqual(await page.inputValue('#colour'), 'folder');
      await page.click('#by-change');
      await untilDrawn(page);
      const [first] = Object.keys(await rowsOf(page));
      assert.strictEqual(first, 'helper');
      await press(page, 'v', 'm');
      await page.screenshot({path: path.join(work, 'both-dark.png')});
    },
  );
  await seen(
    'the order of the traces does not matter',
    'swapped.html',
    '',
    {},
    async (page) => {
      await has(page, '#facts', /^1,955 samples .* outside: 1,126 samples/);
      assert.strictEqual((await rowsOf(page)).port[2], '4.44 %');
    },
  );
};
