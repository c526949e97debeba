// SPDX-License-Identifier: Apache-2.0
// What holds for every page: its policy, its theme, nothing cropped. And the
// pages of `parasite open`, which link to each other.
'use strict';

const path = require('node:path');
const {test} = require('./tap.js');
const {assert, closePage, onPage, openPage, reportOf} = require('./browser.js');

const DOCS = path.resolve(__dirname, '../../docs');
const PAGES = {
  'the flame graph': ['alone.html'],
  'a comparison': ['stolen.html'],
  'annotated code': ['open/annotate.html'],
  'the overview': ['open/index.html'],
  'one of an event loop': ['loop/index.html'],
  'one of several CPUs': ['cpus/index.html'],
  'the growth page': [path.join(DOCS, 'growth.html'), true],
};
const WIDTHS = [360, 500, 800, 1280];
const NARROW = {width: 500, height: 740};

// The policy allows the page's own scripts and no other, and no address.
async function policy(page) {
  const content = await page.getAttribute(
    'meta[http-equiv=Content-Security-Policy]',
    'content',
  );
  const rules = Object.fromEntries(
    content.split('; ').map((rule) => {
      const [name, ...values] = rule.split(' ');
      return [name, values.join(' ')];
    }),
  );
  for (const name of ['default-src', 'base-uri', 'form-action'])
    assert.strictEqual(rules[name], "'none'", name);
  assert.match(rules['script-src'], /^('sha256-[\w+/=]{44}' ?)+(blob:)?$/);
  assert.doesNotMatch(content, /https?:|connect-src|\*/);
  const ran = await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'window.harmed = true';
    document.body.append(script);
    const image = document.createElement('div');
    image.innerHTML = '<img src="data:," onerror="window.harmed = true">';
    document.body.append(image);
    return new Promise((done) => setTimeout(() => done(window.harmed), 200));
  });
  assert.strictEqual(ran, undefined);
  page.problems = page.problems.filter((one) => !/Security Policy/.test(one));
}

const backOf = (page) =>
  page.evaluate(() => getComputedStyle(document.body).backgroundColor);

// The button goes round, and what was chosen lasts.
async function theme(page) {
  const light = await backOf(page);
  await page.emulateMedia({colorScheme: 'dark'});
  const dark = await backOf(page);
  assert.notStrictEqual(dark, light);
  for (const [name, colour] of [
    ['light', light],
    ['dark', dark],
  ]) {
    await page.click('#theme');
    await page.has('#theme', `Theme: ${name}`);
    assert.strictEqual(await backOf(page), colour);
    await page.emulateMedia({colorScheme: 'light'});
    await page.reload();
    // a busy browser may not have kept the choice yet
    await page.has('#theme', `Theme: ${name}`, () => page.reload());
    assert.strictEqual(await backOf(page), colour);
  }
  await page.click('#theme');
  await page.has('#theme', 'Theme: auto');
  assert.strictEqual(await backOf(page), light);
}

// Texts in (selector) that cannot be read whole: they hang over the window, or
// another element is in front of them, or cuts them off.
const cropped = (page, selector) =>
  page.$$eval(selector, (all) =>
    all
      .filter((one) => {
        const {left, top, right, bottom} = one.getBoundingClientRect();
        const corners = [
          [left + 8, top + 3],
          [right - 8, top + 3],
          [left + 8, bottom - 3],
          [right - 8, bottom - 3],
        ];
        return (
          one.scrollWidth > one.clientWidth + 1 ||
          corners.some(([x, y]) => document.elementFromPoint(x, y) !== one)
        );
      })
      .map((one) => one.textContent),
  );

async function warnings() {
  for (const [name, least] of [
    ['alone.html', 3],
    ['stolen.html', 2],
    ['few.html', 3],
    ['open/index.html', 3],
    ['open/annotate.html', 3],
  ])
    await onPage(`${name}: warnings are whole`, name, async (page) => {
      for (const width of WIDTHS) {
        await page.setViewportSize({width, height: 740});
        await page.drawn();
        const notes = await page.$$('#notes span');
        assert(notes.length >= least, `${notes.length} warnings`);
        assert.deepStrictEqual(await cropped(page, '#notes span'), []);
        assert.deepStrictEqual(await cropped(page, '#facts'), []);
      }
    });
}

async function everyPage() {
  for (const [what, [name, isStatic]] of Object.entries(PAGES)) {
    const page = await openPage(name, {isStatic, size: NARROW});
    const checked = async (title, check) =>
      test(`${what}: ${title}`, async () => {
        await check(page);
        assert.deepStrictEqual(page.problems, []);
      });
    await checked('nothing sticks out of a narrow window', async () =>
      assert(
        await page.evaluate(
          () => document.documentElement.scrollWidth <= innerWidth,
        ),
      ),
    );
    await checked('a button chooses the theme', theme);
    await checked('its policy allows its own scripts alone', policy);
    await closePage(page);
  }
}

const opened = (what, check) => onPage(what, 'open/index.html', check);

async function overview() {
  await opened('the overview is the report', async (page) => {
    const rows = await page.$$eval('#rows tr', (all) =>
      all.map((row) =>
        [...row.cells].slice(0, 3).map((one) => one.textContent),
      ),
    );
    const shares = (part) =>
      part < 10 ? `${part.toFixed(2)} %` : `${part.toFixed(1)} %`;
    const wanted = reportOf('stolen.trace').rows.map((one) => [
      (one.self > 0 && one.self < 16 ? '? ' : '') + shares(one.self_percent),
      shares(one.total_percent),
      one.symbol.slice(0, 1000),
    ]);
    assert.deepStrictEqual(rows.sort(), wanted.sort());
  });
  await opened('its functions lead to code and callers', async (page) => {
    await page.click('#rows tr:has-text("helper") td:nth-child(3) a');
    await page.waitForSelector('body[data-ready] #functions');
    await page.has('#name', 'helper');
    await page.click('#graph');
    await page.waitForSelector('body[data-ready] #path b');
    await page.has('#path', 'callers and callees of helper');
    await page.click('#code');
    await page.waitForSelector('body[data-ready] #functions');
    await page.has('#name', 'helper');
    assert.match(await page.getAttribute('#home', 'href'), /^\.\/$/);
  });
  await opened('a function without code leads to the graph', async (page) => {
    await page.click('#rows tr:has-text("[dropped]") td:nth-child(3) a');
    await page.waitForSelector('body[data-ready] #path b');
    assert.match(await page.text('#path'), /\[dropped\]/);
  });
}

const cellsOf = (page, table) =>
  page.$$eval(`#${table} tbody tr`, (all) =>
    all.map((row) => [...row.cells].map((one) => one.textContent)),
  );

// See harness/made_loop.py.
async function eventLoop() {
  await onPage('it shows the event loop', 'loop/index.html', async (page) => {
    assert.match(await page.text('#busy'), /^It was busy for [\d.]+ % of/);
    const held = await cellsOf(page, 'held');
    assert.ok(held.some(([name]) => name.startsWith('handle (')));
    assert.ok(!held.some(([name]) => name.startsWith('nap (')));
    assert.deepStrictEqual(await cellsOf(page, 'calls'), [
      [
        ...['query (services/made/query.c:50)', '40', '0', '1.00 ms'],
        ...['500 \u00b5s', '1.50 ms', '1.50 ms', '1.50 ms', '40'],
      ],
    ]);
    assert.deepStrictEqual(await cellsOf(page, 'futures'), [
      [
        ...['nap (services/made/serve.c:7)', '20', '1', '10.5 ms', '11.0 ms'],
        ...['20.0 ms', '20.0 ms', '20.0 ms', '20'],
      ],
    ]);
    assert.match(await page.text('#loop'), /5 tasks or futures had no room/);
  });
  await opened('a trace without it has no such part', async (page) => {
    for (const id of ['loop', 'cpus', 'irqs-off', 'latency', 'off'])
      assert.ok(await page.$eval(`#${id}`, (panel) => panel.hidden), id);
  });
}

// See harness/made_cpus.py.
async function cpus() {
  const name = 'cpus/index.html';
  await onPage('it shows CPUs, and what is off', name, async (page) => {
    assert.deepStrictEqual(await cellsOf(page, 'each-cpu'), [
      [
        ...['CPU 0', '785', '93.6 %', '0.13 %', '0', '0', '0', '0'],
        '\u00b10.00 \u00b5s',
      ],
      [
        ...['CPU 1', '785', '70.7 %', '0 %', '0', '0', '0', '0'],
        '\u00b11.00 \u00b5s',
      ],
      [
        ...['CPU 2', '760', '66.9 %', '3.82 %', '0', '0', '25', '3'],
        '\u00b12.00 \u00b5s',
      ],
    ]);
    await page.has('#at-once', 'by the time: 1: 34.7 %, 3: 65.3 %. 92.7 % of');
    await page.has('#irqs-share', /^Interrupts were off in 1\.32 % of all/);
    const [held, once] = await cellsOf(page, 'stretches');
    assert.match(held[0], /document.title=1<.script> \u2190 main$/);
    assert.deepStrictEqual(held.slice(1, 5), ['2', '29.0 ms', '31.0 ms', '30']);
    assert.deepStrictEqual(once.slice(0, 2), ['work \u2190 main', '0']);
  });
  await onPage('its parts lead to their graphs', name, async (page) => {
    const follows = async (selector, notes) => {
      await page.click(selector);
      await page.waitForSelector('body[data-ready] #graph');
      await page.has('#notes', notes);
      await page.goBack();
      await page.waitForSelector('body[data-ready] #functions');
    };
    await follows('#latency', '92.7 % of the samples are joined');
    await follows('#off', 'Only samples with interrupts off');
    await page.click('#stretches tbody tr:first-child a');
    await page.waitForSelector('body[data-ready] #graph');
    await page.has('#facts', /^30 samples .* 29\.0 ms/);
    assert.strictEqual(await page.inputValue('#cpu'), '2');
  });
  const later = 'later/index.html';
  await onPage('of a later part, too', later, async (page) => {
    const [[, , , , samples, begin], none] = await cellsOf(page, 'stretches');
    assert.deepStrictEqual([samples, begin], ['30', '0.682008 s']);
    assert.strictEqual(none, undefined);
    await page.click('#stretches tbody tr:first-child a');
    await page.waitForSelector('body[data-ready] #graph');
    await page.has('#facts', /^30 samples .* 29\.0 ms/);
  });
}

module.exports = async () => {
  await everyPage();
  await warnings();
  await overview();
  await eventLoop();
  await cpus();
};
