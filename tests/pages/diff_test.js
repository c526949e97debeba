// SPDX-License-Identifier: Apache-2.0
// Comparisons: what is red, blue and grey.
'use strict';

const {test} = require('./tap.js');
const {assert, has, onPage, press, text, untilDrawn} = require('./browser.js');

// Every function's row: {name: [change, kind]}.
const changesOf = (page) =>
  page.$$eval('.row', (rows) =>
    Object.fromEntries(
      rows.map((row) => {
        const cells = row.querySelectorAll('span');
        return [
          cells[3].textContent,
          [
            cells[2].textContent,
            cells[2].className.includes('more')
              ? 'more'
              : cells[2].className.includes('less')
                ? 'less'
                : 'noise',
            row.querySelector('.dot').style.background,
          ],
        ];
      }),
    ),
  );

const partsOf = (colour) => colour.match(/\d+/g).map(Number);

module.exports = async () => {
  await onPage(
    'the losses of both sides are shown',
    'stolen.html',
    async (page) => {
      await has(page, '#notes', /After: 7 ticks missed .*, 90\.0 ms stolen/);
      await has(page, '#notes', /Before: 7 ticks missed .*without a stack/);
      assert(!/Before:.*stolen/.test(await text(page, '#notes')));
      await has(page, '#facts', /^1,955 samples .*before: 1,955 samples/);
    },
  );
  await onPage('more is red, noise is grey', 'more.html', async (page) => {
    const changes = await changesOf(page);
    // 600 of 2,355 against 300 of 1,955
    assert.deepStrictEqual(changes.work.slice(0, 2), ['+10.13', 'more']);
    const [r, , b] = partsOf(changes.work[2]);
    assert(r > b + 60, changes.work[2]);
    assert.strictEqual(changes.port[1], 'noise');
    assert.strictEqual(Object.keys(changes)[0], 'work', 'sorted by change');
    await has(page, '#legend', 'not significant');
  });
  await onPage(
    'less is blue the other way round',
    'less.html',
    async (page) => {
      const changes = await changesOf(page);
      assert.deepStrictEqual(changes.work.slice(0, 2), ['\u221210.13', 'less']);
      const [r, , b] = partsOf(changes.work[2]);
      assert(b > r + 60, changes.work[2]);
    },
  );
  await onPage(
    'a trace against itself shows no news',
    'same.html',
    async (page) => {
      const changes = await changesOf(page);
      for (const [name, [change, kind, colour]] of Object.entries(changes)) {
        assert.deepStrictEqual([change, kind], ['+0.00', 'noise'], name);
        const [r, , b] = partsOf(colour);
        assert(Math.abs(r - b) < 24, colour);
      }
    },
  );
  await onPage('what vanished is still there', 'gone.html', async (page) => {
    const changes = await changesOf(page);
    assert.strictEqual(changes.work[1], 'less');
    await page.click('.row:has-text("work")');
    await untilDrawn(page);
    await has(page, '#chosen', 'Total 0 %, 0 samples');
    await has(page, '#chosen', /Change \u2212.*, significant/);
  });
  await onPage(
    'a comparison can be coloured and counted otherwise',
    'more.html',
    async (page) => {
      await press(page, 'm', 'c');
      assert.strictEqual(await page.inputValue('#colour'), 'folder');
      await press(page, 'v');
      assert(!(await text(page, '#legend')).includes('not significant'));
    },
  );
};
