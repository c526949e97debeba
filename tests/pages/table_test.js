// SPDX-License-Identifier: Apache-2.0
// The table of functions, and search.
'use strict';

const {test} = require('./tap.js');
const {
  assert,
  cellsOf,
  has,
  onPage,
  press,
  reportOf,
  spotOf,
  text,
  untilDrawn,
} = require('./browser.js');

const MADE = 'made.trace';
const LONG = 'x'.repeat(10000);

const fresh = (what, check, hash = '#i=1') =>
  onPage(what, 'made.html', check, {hash});

const percent = (value) => {
  if (value === 0) return '0 %';
  return value.toFixed(value < 10 ? 2 : 1) + ' %';
};

// What the page puts before a share of so few samples.
const fewMark = ({self}) => (self > 0 && self < 16 ? '? ' : '');

async function rowsAgree(page, rows) {
  const wanted = rows.map((row) => [
    fewMark(row) + percent(row.self_percent),
    percent(row.total_percent),
    row.symbol.slice(0, 1000),
  ]);
  const order = (a, b) => (a[2] < b[2] ? -1 : 1);
  assert.deepStrictEqual((await cellsOf(page)).sort(order), wanted.sort(order));
}

async function tables() {
  await fresh('the table is that of parasite report', async (page) => {
    await rowsAgree(page, reportOf(MADE).rows);
  });
  await fresh('columns sort, by button and by o', async (page) => {
    const first = async () => (await cellsOf(page))[0][2];
    assert.strictEqual(await first(), 'work');
    await page.click('#by-total');
    assert.strictEqual(await first(), 'main');
    await page.click('#by-name');
    assert.strictEqual(
      await first(),
      '</script><script>document.title=1' + '</script>',
    );
    await press(page, 'o');
    assert.strictEqual(await first(), 'work');
  });
  await fresh(
    'a row chooses in the graph, the graph chooses a row',
    async (page) => {
      await page.click('.row:has-text("port")');
      await untilDrawn(page);
      await has(page, '#chosen', /^port Total 12\.3 %/);
      await page.mouse.click(...(await spotOf(page, MADE, 'main', 'recurse')), {
        button: 'right',
      });
      await untilDrawn(page);
      await has(page, '.row.chosen .name', /^recurse$/);
    },
  );
  await fresh(
    'keys walk in the table, Enter opens the sandwich',
    async (page) => {
      await press(page, 'f', 'ArrowDown', 'ArrowDown');
      await has(page, '.row.chosen .name', /^helper$/);
      await has(page, '#chosen', /^helper Total/);
      await press(page, 'Enter');
      await has(page, '#path', 'callers and callees of helper');
    },
  );
  await fresh('a double click opens the sandwich', async (page) => {
    await page.dblclick('.row:has-text("recurse")');
    await untilDrawn(page);
    await has(page, '#path', 'callers and callees of recurse');
  });
  await fresh('callers and callees are those of parasite report', callsAgree);
  await fresh('l and its button hide the table', async (page) => {
    await press(page, 'l');
    assert(await page.locator('#side').isHidden());
    await page.click('#side-toggle');
    assert(await page.locator('#side').isVisible());
  });
}

async function callsAgree(page) {
  const {samples, rows} = reportOf(MADE, '--callers', '--callees');
  for (const row of rows.filter(({symbol}) => /^[a-z]+$/.test(symbol))) {
    if (row.symbol.startsWith('xxx')) continue;
    await page.click(`.row:has(.name:text-is("${row.symbol}"))`);
    for (const side of ['callers', 'callees']) {
      const shown = await page.$$eval(`#${side} button`, (items) =>
        items.map((item) => [...item.children].map((cell) => cell.textContent)),
      );
      const wanted = row[side].map((call) => [
        percent((100 * call.samples) / samples),
        call.symbol.slice(0, 500),
      ]);
      assert.deepStrictEqual(shown.sort(), wanted.sort(), row.symbol);
    }
    await page.click(
      '#' +
        ((await page.locator('#callers button').count())
          ? 'callers'
          : 'callees') +
        ' button',
    );
  }
}

// Searches, and waits for what it says of it.
async function type(page, regex) {
  await page.fill('#regex', regex);
  await untilDrawn(page, 350);
  await has(page, '#matched', regex === '' ? /^$/ : /./);
}

// The search for it never ends. The page's clock stands still, so that the
// search is given up when the test says so, however slow the machine is.
async function givesUp(page) {
  await page.clock.install();
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 1000);
  await page.fill('#regex', '(x+x+)+y');
  await page.clock.runFor(100);
  await page.focus('#graph');
  await page.keyboard.press('i');
  await page.waitForSelector('#flame[aria-pressed="true"]');
  await page.clock.runFor(2900);
  await has(page, '#matched', /^$/);
  assert.strictEqual(page.workers().length, 1);
  const ended = page.workers()[0].waitForEvent('close');
  await page.clock.runFor(100);
  await has(page, '#matched', 'takes too long');
  await ended;
  await page.clock.resume();
  await type(page, 'work');
  await has(page, '#matched', /^20\.5 %$/);
}

async function searches() {
  await fresh('search shows the share, overlaps counted once', async (page) => {
    await press(page, '/');
    await page.keyboard.type('^(help|wo)');
    await has(page, '#matched', /^30\.2 %$/); // (400 + 150 + 40) of 1,955
    assert.strictEqual((await cellsOf(page)).length, 2);
    await page.waitForFunction(() => location.hash.includes('s='));
  });
  await fresh('n, N and the buttons walk to matches', async (page) => {
    await type(page, 'helper');
    await page.focus('#graph');
    const seen = new Set();
    for (let i = 0; i < 3; ++i) {
      await press(page, 'n');
      seen.add(await text(page, '#chosen'));
    }
    assert.strictEqual(seen.size, 3);
    const last = await text(page, '#chosen');
    await page.click('#previous');
    await page.click('#next');
    await untilDrawn(page);
    assert.strictEqual(await text(page, '#chosen'), last);
    await page.focus('#graph');
    await press(page, 'N');
    assert.notStrictEqual(await text(page, '#chosen'), last);
  });
  await fresh(
    'Enter in the field is the next one, Esc clears it',
    async (page) => {
      await type(page, 'port');
      await page.focus('#regex');
      await press(page, 'Enter');
      await has(page, '#chosen', /^port /);
      await page.focus('#regex');
      await press(page, 'Escape');
      await has(page, '#matched', /^$/);
    },
  );
  await fresh('an invalid regular expression is reported', async (page) => {
    await type(page, '(');
    await has(page, '#matched', 'invalid regex');
    await type(page, 'work');
    await has(page, '#matched', /^20\.5 %$/);
  });
  await fresh(
    'one that takes for ever is given up, the page lives on',
    givesUp,
  );
}

async function hardNames() {
  await fresh('hard names are shown as they are', async (page) => {
    const names = (await cellsOf(page)).map(([, , name]) => name);
    for (const name of [
      '</script><script>document.title=1</script>',
      'a<b>&amp;c &lt; d',
      "quote\"s and 'others' \\ back",
      'größe_日本語_🔥',
      '__proto__',
      LONG.slice(0, 1000),
    ])
      assert(names.includes(name), name);
    assert.match(await page.title(), /made\.trace$/);
  });
  await fresh('and can be searched for, chosen and copied', async (page) => {
    await type(page, '<b>&amp;');
    await has(page, '#matched', /^8\.18 %$/);
    await type(page, '');
    await page.click('.row:has-text("xxxxxxxxxxxx")');
    await untilDrawn(page);
    await press(page, 'y');
    assert.strictEqual(
      await page.evaluate(() => navigator.clipboard.readText()),
      LONG,
    );
  });
}

module.exports = async () => {
  await tables();
  await searches();
  await hardNames();
};
