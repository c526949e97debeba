// SPDX-License-Identifier: Apache-2.0
// A guest from both sides: what only the outside sees.
'use strict';

const {assert, onPage} = require('./browser.js');

// {name: [self, total, unseen]} of the table.
const rowsOf = async (page) =>
  Object.fromEntries(
    (await page.cells()).map((cells) => [cells[3], cells.slice(0, 3)]),
  );

// The colour of the strip at a part of its width and height.
async function stripAt(page, x, y) {
  const box = await page.box('#timeline');
  return page.colourAt('#timeline', [
    box.x + x * box.width,
    box.y + y * box.height,
  ]);
}

module.exports = async () => {
  await onPage('what only the outside sees', 'both.html', async (page) => {
    const rows = await rowsOf(page);
    // of 1,126 samples from outside
    assert.strictEqual(rows.port[2], '4.44 %', 'interrupts off');
    assert.strictEqual(rows.recurse[2], '4.44 %', 'before the first');
    assert.strictEqual(rows.helper[2], '8.79 %', 'after the last');
    assert.strictEqual(rows.main[2], '', 'seen by both');
    await page.hit('.row:has(.name:text-is("main"))');
    await page.has('#chosen', /Inside 99\.7 %, .* Outside 82\.2/);
    const box = await page.box('#timeline');
    await page.mouse.move(box.x + 0.98 * box.width, box.y + 20);
    await page.has('#tip', /Only outside after its last sample, \d+/);
  });
  await onPage('the facts are those of both', 'both.html', async (page) => {
    await page.has('#facts', /^1,955 samples .* outside: 1,126 samples/);
    await page.has('#notes', /clocks agree to 0\.\d\d ms/);
    await page.has('#notes', /Inside: 7 ticks missed/);
    await page.has('#notes', /Outside: nothing was lost/);
    const legend = await page.text('#legend');
    for (const kind of [
      'seen by both',
      'before its first sample',
      'after its last sample',
      'interrupts off',
    ])
      assert(legend.includes(kind), legend);
    assert(!legend.includes('other CPUs'), legend);
  });
  await onPage('the strip shows both', 'both.html', async (page) => {
    // red at the end, above and below; nothing in the middle, above
    const [r, , b] = await stripAt(page, 0.985, 0.2);
    assert(r > b + 20, `${r} ${b}`);
    const middle = await stripAt(page, 0.5, 0.02);
    assert(Math.abs(middle[0] - middle[2]) < 12, String(middle));
    const first = await stripAt(page, 0.02, 0.2);
    assert(first[0] > first[2] + 10, String(first));
    await page.pictured('both');
  });
  const range = 'both.html#r=6000000-6900000';
  await onPage('a range restricts both sides', range, async (page) => {
    // within what has interrupts off
    const rows = await rowsOf(page);
    assert.strictEqual(rows.port[2], '100.0 %');
    await page.has('#facts', /outside: 45 samples/);
  });
  const dark = {scheme: 'dark'};
  await onPage('colours and order', 'both.html', dark, async (page) => {
    assert.strictEqual(await page.inputValue('#colour'), 'sides');
    await page.keys('c');
    assert.strictEqual(await page.inputValue('#colour'), 'folder');
    await page.hit('#by-change');
    const [first] = Object.keys(await rowsOf(page));
    assert.strictEqual(first, 'helper');
    await page.keys('v', 'm');
    await page.pictured('both-dark');
  });
  await onPage('the interrupt of the profiler', 'ticks.html', async (page) => {
    const legend = await page.text('#legend');
    assert(legend.includes('in its own interrupt'), legend);
    assert(!legend.includes('interrupts off'), legend);
  });
  // See several() of harness/made_profile.py.
  const several = 'several.html';
  await onPage('each CPU has two sides', several, async (page) => {
    const unseen = async () =>
      Object.fromEntries(
        Object.entries(await rowsOf(page)).map(([name, row]) => [name, row[2]]),
      );
    const all = await unseen(),
      lanes = (await page.box('#timeline')).height;
    // of 1,530 samples from outside 510 are of each CPU
    assert.strictEqual(all.recurse, '33.3 %');
    await page.has('#legend', 'other CPUs');
    await page.selectOption('#cpu', '1');
    await page.drawn();
    assert((await page.box('#timeline')).height < lanes);
    await page.has('#facts', /^700 samples .* outside: 510 samples/);
    const one = await unseen();
    // 109 of 510 are before it joins, 49 of it in port
    assert.match(one.helper, /^21\.\d %$/);
    assert.match(one.port, /^9\.\d+ %$/);
    assert.strictEqual(one.recurse, undefined);
    await page.selectOption('#cpu', '2');
    await page.drawn();
    await page.has('#facts', /^0 samples .* outside: 510 samples/);
    assert.deepStrictEqual(await unseen(), {recurse: '100.0 %'});
    await page.keys('b');
    assert.deepStrictEqual(await unseen(), all);
    await page.pictured('several');
  });
  await onPage('an NMI sees what is off', 'by_nmi.html#p=1', async (page) => {
    const {port, helper} = await rowsOf(page);
    assert.deepStrictEqual(port, ['12.5 %', '12.5 %', '']);
    assert.match(helper[2], /^21\.\d %$/);
  });
  await onPage(
    'only one CPU had interrupts off',
    'marked.html#p=1',
    async (page) => {
      const {port} = await rowsOf(page);
      assert.deepStrictEqual(port, ['12.5 %', '12.5 %', '']);
    },
  );
  await onPage('traces in another order', 'swapped.html', async (page) => {
    await page.has('#facts', /^1,955 samples .* outside: 1,126 samples/);
    assert.strictEqual((await rowsOf(page)).port[2], '4.44 %');
  });
};
