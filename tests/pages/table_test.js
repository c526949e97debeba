// SPDX-License-Identifier: Apache-2.0
// The table of functions, and search.
'use strict';

const {assert, onPage, reportOf} = require('./browser.js');

const RIGHT = {button: 'right'};
const LONG = 'x'.repeat(10000);

const fresh = (what, check) => onPage(what, 'made.html#i=1', check);

const percent = (value) => {
  if (value === 0) return '0 %';
  return value.toFixed(value < 10 ? 2 : 1) + ' %';
};

// What the page puts before a share of so few samples.
const fewMark = ({self}) => (self > 0 && self < 16 ? '? ' : '');

// Shares of what several CPUs did at once have no interval, and no mark.
async function rowsAgree(page, rows, mark = fewMark) {
  const wanted = rows.map((row) => [
    mark(row) + percent(row.self_percent),
    percent(row.total_percent),
    row.symbol.slice(0, 1000),
  ]);
  const order = (a, b) => (a[2] < b[2] ? -1 : 1);
  assert.deepStrictEqual((await page.cells()).sort(order), wanted.sort(order));
}

// Three CPUs (tests/harness/made_cpus.py).
async function cpus() {
  const shown = (page) => page.text('#facts');

  for (const cpu of [0, 1, 2])
    await onPage(`CPU ${cpu} alone`, `cpus.html#p=${cpu}`, async (page) => {
      const {rows, samples} = reportOf('cpus.trace', '-C', `${cpu}`);
      await rowsAgree(page, rows);
      assert.match(await shown(page), new RegExp(`^${samples} samples`));
    });
  await onPage('CPUs are chosen, and all again', 'cpus.html', async (page) => {
    const all = await shown(page);
    const height = async () => (await page.box('#timeline')).height;
    const lanes = await height();
    await rowsAgree(page, reportOf('cpus.trace').rows);
    await page.keys('b', 'b');
    assert((await height()) < lanes);
    await rowsAgree(page, reportOf('cpus.trace', '-C', '1').rows);
    await page.selectOption('#cpu', '2');
    await page.drawn();
    await rowsAgree(page, reportOf('cpus.trace', '-C', '2').rows);
    await page.hit('#reset');
    assert.strictEqual(await shown(page), all);
    assert.strictEqual(await height(), lanes);
  });
  await fresh('one CPU is no choice', async (page) => {
    await page.keys('b', 'j', 'k');
    assert(!(await page.isVisible('#cpus')));
    assert(!(await page.isVisible('#shares')));
    await rowsAgree(page, reportOf('made.trace').rows);
  });
}

// What they did at once, which the page weighs by itself: as the report does.
async function shares() {
  const noted = (page, what) => page.has('#notes', what);
  const joinedAgree = (page, rows) => rowsAgree(page, rows, () => '');

  await onPage('latency is that of the report', 'cpus.html', async (page) => {
    const {rows, samples, weights} = reportOf('cpus.trace', '--latency');
    const joined = percent((100 * weights.joined) / weights.samples);
    await page.hit('#samples');
    await page.selectOption('#of', 'latency');
    await page.drawn();
    await joinedAgree(page, rows);
    assert(await page.isDisabled('#samples'));
    await page.has('#facts', new RegExp(`^${samples.toLocaleString()} samp`));
    await noted(page, `${joined} of the samples are joined`);
    await page.selectOption('#cpu', '2');
    await page.drawn();
    const {rows: two} = reportOf('cpus.trace', '--latency', '-C', '2');
    await joinedAgree(page, two);
    await page.keys('b');
    await page.keys('j');
    await rowsAgree(page, reportOf('cpus.trace', '--irqs-off').rows);
    await page.hit('#reset');
    await page.hit('#clocks');
    await rowsAgree(page, reportOf('cpus.trace').rows);
    assert(await page.isEnabled('#samples'));
  });
  await onPage('a function is blamed on others', 'cpus.html', async (page) => {
    const {rows} = reportOf('cpus.trace', '--blame', 'helper');
    await page.hit('.row:has(.name:text-is("helper"))');
    await page.hit('#blame');
    await joinedAgree(page, rows);
    await noted(page, 'while some were in helper');
    assert.match(page.url(), /#.*w=blame/);
    await page.reload();
    await page.waitForSelector('body[data-ready]');
    await page.drawn();
    await joinedAgree(page, rows);
    await page.selectOption('#of', 'all');
    await page.drawn();
    await rowsAgree(page, reportOf('cpus.trace').rows);
    // what all wait for while one is alone, and what is no function
    await page.hit('.row:has(.name:text-is("recurse"))');
    await page.keys('k');
    const alone = reportOf('cpus.trace', '--blame', 'recurse').rows;
    await joinedAgree(page, alone);
    assert.deepStrictEqual(
      alone.map(({symbol}) => symbol),
      ['[idle]'],
    );
    await page.hit('.row:has(.name:text-is("[idle]"))');
    assert(!(await page.isVisible('#blame')));
  });
  for (const name of ['cpus.html#i=1&w=latency', 'latency.html#i=1'])
    await onPage(`${name} has no interval`, name, async (page) => {
      await page.mouse.move(...(await page.spotOf('main')));
      await page.drawn();
      await page.has('#tip', /^main Total 100\.0 %, .* Self /);
      assert.doesNotMatch(await page.text('#tip'), /interval/);
      await joinedAgree(page, reportOf('cpus.trace', '--latency').rows);
    });
  await onPage('a range has their shares', 'cpus.html', async (page) => {
    // ticks 10 to 59, of which CPU 0 has one with interrupts off
    await page.goto(page.url() + '#w=off&r=110000-610000');
    await page.reload();
    await page.waitForSelector('body[data-ready]');
    await page.drawn();
    assert.deepStrictEqual(await page.cells(), [
      ['? 100.0 %', '100.0 %', 'work'],
      ['0 %', '100.0 %', 'main'],
    ]);
  });
  for (const [name, hash] of [
    ['a comparison', 'more.html#w=latency'],
    ['one CPU', 'made.html#w=blame&k=helper'],
  ])
    await onPage(`${name} has none of these`, hash, async (page) => {
      assert(!(await page.isVisible('#shares')));
      assert((await page.cells()).length > 3);
    });
}

async function tables() {
  await fresh('the table is that of parasite report', async (page) => {
    await rowsAgree(page, reportOf('made.trace').rows);
  });
  await fresh('columns sort, by button and by o', async (page) => {
    const first = async () => (await page.cells())[0][2];
    assert.strictEqual(await first(), 'work');
    await page.click('#by-total');
    assert.strictEqual(await first(), 'main');
    await page.click('#by-name');
    assert.strictEqual(
      await first(),
      '</script><script>document.title=1' + '</script>',
    );
    await page.keys('o');
    assert.strictEqual(await first(), 'work');
  });
  await fresh('rows choose in the graph, the graph rows', async (page) => {
    await page.hit('.row:has-text("port")');
    await page.has('#chosen', /^port Total 12\.3 %/);
    await page.hit(await page.spotOf('main', 'recurse'), RIGHT);
    await page.has('.row.chosen .name', /^recurse$/);
  });
  await fresh('keys walk in it, Enter opens the sandwich', async (page) => {
    await page.keys('f', 'ArrowDown', 'ArrowDown');
    await page.has('.row.chosen .name', /^helper$/);
    await page.has('#chosen', /^helper Total/);
    await page.keys('Enter');
    await page.has('#path', 'callers and callees of helper');
  });
  await fresh('a double click opens the sandwich', async (page) => {
    await page.dblclick('.row:has-text("recurse")');
    await page.drawn();
    await page.has('#path', 'callers and callees of recurse');
  });
  await fresh('rows may be drawn again during a click', async (page) => {
    const {x, y, width, height} = await page
      .locator('.row:has-text("recurse")')
      .boundingBox();
    await page.mouse.move(x + width / 2, y + height / 2);
    const size = page.viewportSize();
    for (const clickCount of [1, 2]) {
      await page.mouse.down({clickCount});
      await page.setViewportSize({...size, width: size.width - clickCount});
      await page.drawn();
      await page.mouse.up({clickCount});
    }
    await page.has('#path', 'callers and callees of recurse');
  });
  await fresh('callers and callees are those of parasite report', callsAgree);
  await fresh('l and its button hide the table', async (page) => {
    await page.keys('l');
    assert(await page.isHidden('#side'));
    await page.click('#side-toggle');
    assert(await page.isVisible('#side'));
  });
}

async function callsAgree(page) {
  const {samples, rows} = reportOf('made.trace', '--callers', '--callees');
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
  await page.drawn(350);
  await page.has('#matched', regex === '' ? /^$/ : /./);
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
  await page.clock.runFor(9900);
  await page.has('#matched', /^$/);
  assert.strictEqual(page.workers().length, 1);
  const ended = page.workers()[0].waitForEvent('close');
  await page.clock.runFor(100);
  await page.has('#matched', 'takes too long');
  await ended;
  await page.clock.resume();
  await type(page, 'work');
  await page.has('#matched', /^20\.5 %$/);
}

async function searches() {
  await fresh('search shows the share, overlaps counted once', async (page) => {
    await page.keys('/');
    await page.keyboard.type('^(help|wo)');
    await page.has('#matched', /^30\.2 %$/); // (400 + 150 + 40) of 1,955
    assert.strictEqual((await page.cells()).length, 2);
    await page.waitForFunction(() => location.hash.includes('s='));
  });
  await fresh('n, N and the buttons walk to matches', async (page) => {
    await type(page, 'helper');
    await page.focus('#graph');
    const seen = new Set();
    for (let i = 0; i < 3; ++i) {
      await page.keys('n');
      seen.add(await page.text('#chosen'));
    }
    assert.strictEqual(seen.size, 3);
    const last = await page.text('#chosen');
    await page.click('#previous');
    await page.hit('#next');
    assert.strictEqual(await page.text('#chosen'), last);
    await page.focus('#graph');
    await page.keys('N');
    assert.notStrictEqual(await page.text('#chosen'), last);
  });
  await fresh('Enter there is the next one, Esc clears it', async (page) => {
    await type(page, 'port');
    await page.focus('#regex');
    await page.keys('Enter');
    await page.has('#chosen', /^port /);
    await page.focus('#regex');
    await page.keys('Escape');
    await page.has('#matched', /^$/);
  });
  await fresh('an invalid regular expression is reported', async (page) => {
    await type(page, '(');
    await page.has('#matched', 'invalid regex');
    await type(page, 'work');
    await page.has('#matched', /^20\.5 %$/);
  });
  await fresh('one that takes for ever is given up', givesUp);
}

async function hardNames() {
  await fresh('hard names are shown as they are', async (page) => {
    const names = (await page.cells()).map(([, , name]) => name);
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
    await page.has('#matched', /^8\.18 %$/);
    await type(page, '');
    await page.hit('.row:has-text("xxxxxxxxxxxx")');
    await page.keys('y');
    assert.strictEqual(
      await page.evaluate(() => navigator.clipboard.readText()),
      LONG,
    );
  });
}

module.exports = async () => {
  await tables();
  await cpus();
  await shares();
  await searches();
  await hardNames();
};
