// SPDX-License-Identifier: Apache-2.0
//
// node page.js FOLDER - PARASITE: drives FOLDER/page.html, of parasite
// annotate, in Chromium without a window, by mouse and by keyboard; and
// FOLDER/names.html, which has the names in FOLDER/names.
'use strict';

const {gunzipSync} = require('node:zlib');
const {assert, drive, onPage, read} = require('../pages/browser.js');

// What the page holds: the document, JSON in the payload after 4 bytes with its
// length; and what stands in the rows.
function documentOf(name) {
  const packed = /<script id="payload"[^>]*>([^<]+)</.exec(read(name))[1];
  const bytes = gunzipSync(Buffer.from(packed, 'base64'));
  assert.strictEqual(bytes.length, 4 + bytes.readUInt32LE(0));
  return JSON.parse(bytes.subarray(4));
}
const drawn = (page) => page.waitForSelector('#functions button');
const samplesOf = (page, selector) =>
  page.$$eval(selector, (rows) =>
    rows.reduce((sum, row) => sum + (parseInt(row.title, 10) || 0), 0),
  );
const count = (page, selector) => page.$$eval(selector, (all) => all.length);
const at = (page) => page.$eval('.at', (row) => row.key);

// Each function's rows add up, in both views.
async function totals(page) {
  const data = documentOf('page.html');
  assert(data.functions.length > 1);
  for (let i = 0; i < data.functions.length; ++i) {
    await page.click(`#functions li:nth-child(${i + 1}) button`);
    assert.strictEqual(await page.text('#name'), data.functions[i].symbol);
    await page.click('#lines');
    assert.strictEqual(await samplesOf(page, '.line'), data.functions[i].self);
    await page.click('#code');
    assert.strictEqual(await samplesOf(page, '.asm'), data.functions[i].self);
  }
}

async function mouse(page) {
  await page.click('#functions li:nth-child(2) button');
  await page.click('#next');
  const line = page.locator('.line.at');
  const wanted = parseInt(await line.getAttribute('title'), 10);
  assert.strictEqual(await count(page, '.under'), 0);
  await line.click();
  assert.strictEqual(await samplesOf(page, '.asm.under'), wanted);
  assert.strictEqual(await line.getAttribute('aria-expanded'), 'true');
  await line.click();
  assert.strictEqual(await count(page, '.under'), 0);
  await page.fill('#filter', 'NO SUCH NAME');
  assert.strictEqual(await count(page, '#functions li'), 0);
  await page.fill('#filter', '');
  assert((await count(page, '#functions li')) > 1);
  await page.click('#ask');
  assert(await page.isVisible('#help'));
  await page.click('#help button');
  assert(!(await page.isVisible('#help')));
}

async function keyboard(page) {
  const data = documentOf('page.html');
  const press = (key) => page.keyboard.press(key);
  await press(']');
  assert.strictEqual(await page.text('#name'), data.functions[1].symbol);
  await press('ArrowLeft');
  assert.strictEqual(await page.text('#name'), data.functions[0].symbol);
  await press('n');
  const hottest = await at(page);
  const most = Math.max(...data.functions[0].lines.map((line) => line.self));
  assert.strictEqual(
    parseInt(await page.getAttribute('.at', 'title'), 10),
    most,
  );
  await press('j');
  assert.notStrictEqual(await at(page), hottest);
  await press('k');
  assert.strictEqual(await at(page), hottest);
  await press('n');
  await press('p');
  assert.strictEqual(await at(page), hottest);
  await press('Enter');
  assert.strictEqual(await samplesOf(page, '.asm.under'), most);
  await press('c');
  assert.strictEqual(await count(page, '.under'), 0);
  await press('a');
  assert.strictEqual(
    await samplesOf(page, '.asm.under'),
    data.functions[0].self,
  );
  await press('i');
  assert.strictEqual(await count(page, '.line'), 0);
  await press('i');
  await press('/');
  await page.keyboard.type(data.functions[1].symbol.slice(0, 20));
  assert((await count(page, '#functions li')) < data.functions.length);
  await press('Escape');
  await press('?');
  assert(await page.isVisible('#help'));
  assert((await count(page, '#help dt')) > 8);
  await press('Escape');
  assert(!(await page.isVisible('#help')));
}

async function hash(page) {
  await page.keyboard.press(']');
  await page.keyboard.press('i');
  await page.keyboard.press('n');
  const [name, line] = [await page.text('#name'), await at(page)];
  await page.reload();
  await drawn(page);
  assert.strictEqual(await page.text('#name'), name);
  assert.strictEqual(await at(page), line);
  assert.strictEqual(await page.getAttribute('#code', 'aria-pressed'), 'true');
}

async function dark(page) {
  const back = () =>
    page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.emulateMedia({colorScheme: 'light'});
  const light = await back();
  await page.emulateMedia({colorScheme: 'dark'});
  assert.notStrictEqual(await back(), light);
}

// Nothing hangs over at the sides; code may be scrolled by itself.
async function phone(page) {
  await page.setViewportSize({width: 360, height: 740});
  await page.reload();
  await drawn(page);
  assert.strictEqual(
    await page.evaluate(() => document.documentElement.scrollWidth),
    360,
  );
  const box = await page.box('#listing');
  assert(box.height > 250 && box.y + box.height <= 741, JSON.stringify(box));
  await page.tap('#functions li:nth-child(2) button');
  await page.tap('#next');
  await page.tap('.at');
  assert((await count(page, '.under')) > 0);
}

// Only itself is loaded, and names stand there as they are.
async function names(page) {
  const wanted = read('names').split('\n').filter(Boolean);
  const shown = documentOf('names.html').functions.map((f) => f.symbol);
  const there = await page.$$eval('#functions span', (all) =>
    all.map((one) => one.textContent),
  );
  for (const name of wanted) {
    assert(shown.includes(name), name.slice(0, 60));
    assert(there.includes(name), name.slice(0, 60));
  }
  const not_ours = 'img, b b, body > script[src], link:not([href="data:,"])';
  assert.strictEqual(await count(page, not_ours), 0);
  assert.strictEqual(await page.evaluate(() => window.harmed), undefined);
  assert.strictEqual(
    await page.evaluate(
      () => document.documentElement.scrollWidth <= innerWidth,
    ),
    true,
  );
}

const OPTIONS = {size: {width: 1280, height: 720}};

drive(async () => {
  for (const check of [totals, mouse, keyboard, hash, dark, phone])
    await onPage(`the page: ${check.name}`, 'page.html', OPTIONS, check);
  await onPage('the page shows any name', 'names.html', OPTIONS, names);
});
