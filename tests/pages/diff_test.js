// SPDX-License-Identifier: Apache-2.0
// Comparisons: what is red, blue and grey.
'use strict';

const {assert, onPage} = require('./browser.js');

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
  await onPage('losses of both are shown', 'stolen.html', async (page) => {
    await page.has('#notes', /After: 7 ticks missed .*, 90\.0 ms stolen/);
    await page.has('#notes', /Before: 7 ticks missed .*without a stack/);
    assert(!/Before:.*stolen/.test(await page.text('#notes')));
    await page.has('#facts', /^1,955 samples .*before: 1,955 samples/);
  });
  await onPage('more is red, noise is grey', 'more.html', async (page) => {
    const changes = await changesOf(page);
    // 600 of 2,355 against 300 of 1,955
    assert.deepStrictEqual(changes.work.slice(0, 2), ['+10.13', 'more']);
    const [r, , b] = partsOf(changes.work[2]);
    assert(r > b + 60, changes.work[2]);
    assert.strictEqual(changes.port[1], 'noise');
    assert.strictEqual(Object.keys(changes)[0], 'work', 'sorted by change');
    await page.has('#legend', 'not significant');
  });
  await onPage('less is blue', 'less.html', async (page) => {
    const changes = await changesOf(page);
    assert.deepStrictEqual(changes.work.slice(0, 2), ['\u221210.13', 'less']);
    const [r, , b] = partsOf(changes.work[2]);
    assert(b > r + 60, changes.work[2]);
  });
  await onPage('a trace is no news to itself', 'same.html', async (page) => {
    const changes = await changesOf(page);
    for (const [name, [change, kind, colour]] of Object.entries(changes)) {
      assert.deepStrictEqual([change, kind], ['+0.00', 'noise'], name);
      const [r, , b] = partsOf(colour);
      assert(Math.abs(r - b) < 24, colour);
    }
  });
  await onPage('what vanished is still there', 'gone.html', async (page) => {
    const changes = await changesOf(page);
    assert.strictEqual(changes.work[1], 'less');
    await page.hit('.row:has-text("work")');
    await page.has('#chosen', 'Total 0 %, 0 samples');
    await page.has('#chosen', /Change \u2212.*, significant/);
  });
  await onPage('other colours', 'more.html', async (page) => {
    await page.keys('m', 'c');
    assert.strictEqual(await page.inputValue('#colour'), 'folder');
    await page.keys('v');
    assert(!(await page.text('#legend')).includes('not significant'));
  });
};
