// SPDX-License-Identifier: Apache-2.0
//
// node page.js MODULES PAGE CHECK [SHOT]: drives a page of parasite annotate in
// headless Chromium, by mouse or by keyboard, and fails if it does not do what
// it should. MODULES is the node_modules that playwright-core is in.
'use strict';

const assert = require('assert');
const fs = require('fs');
const zlib = require('zlib');
const [modules, page_path, check, shot] = process.argv.slice(2);
const {chromium} = require(modules + '/playwright-core');
const url = 'file://' + fs.realpathSync(page_path);

// What the page holds: the document, JSON in the payload after 4 bytes with its
// length; and what stands in the rows.
function read_document() {
  const html = fs.readFileSync(page_path, 'utf8');
  const packed = /<script id="payload"[^>]*>([^<]+)</.exec(html)[1];
  const bytes = zlib.gunzipSync(Buffer.from(packed, 'base64'));
  assert.equal(bytes.length, 4 + bytes.readUInt32LE(0));
  return JSON.parse(bytes.subarray(4));
}
const drawn = (page) => page.waitForSelector('#functions button');
const samples_of = (page, selector) =>
  page.$$eval(selector, (rows) =>
    rows.reduce((sum, row) => sum + (parseInt(row.title, 10) || 0), 0),
  );
const count = (page, selector) => page.$$eval(selector, (all) => all.length);
const text = (page, selector) => page.textContent(selector);
const at = (page) => page.$eval('.at', (row) => row.key);

// Each function's rows add up, in both views.
async function totals(page) {
  const data = read_document();
  assert(data.functions.length > 1);
  for (let i = 0; i < data.functions.length; ++i) {
    await page.click(`#functions li:nth-child(${i + 1}) button`);
    assert.equal(await text(page, '#name'), data.functions[i].symbol);
    await page.click('#lines');
    assert.equal(await samples_of(page, '.line'), data.functions[i].self);
    await page.click('#code');
    assert.equal(await samples_of(page, '.asm'), data.functions[i].self);
  }
}

async function mouse(page) {
  await page.click('#functions li:nth-child(2) button');
  await page.click('#next');
  const line = page.locator('.line.at');
  const wanted = parseInt(await line.getAttribute('title'), 10);
  assert.equal(await count(page, '.under'), 0);
  await line.click();
  assert.equal(await samples_of(page, '.asm.under'), wanted);
  assert.equal(await line.getAttribute('aria-expanded'), 'true');
  await line.click();
  assert.equal(await count(page, '.under'), 0);
  await page.fill('#filter', 'NO SUCH NAME');
  assert.equal(await count(page, '#functions li'), 0);
  await page.fill('#filter', '');
  assert((await count(page, '#functions li')) > 1);
  await page.click('#ask');
  assert(await page.isVisible('#help'));
  await page.click('#help button');
  assert(!(await page.isVisible('#help')));
}

async function keyboard(page) {
  const data = read_document();
  const press = (key) => page.keyboard.press(key);
  await press(']');
  assert.equal(await text(page, '#name'), data.functions[1].symbol);
  await press('ArrowLeft');
  assert.equal(await text(page, '#name'), data.functions[0].symbol);
  await press('n');
  const hottest = await at(page);
  const most = Math.max(...data.functions[0].lines.map((line) => line.self));
  assert.equal(parseInt(await page.getAttribute('.at', 'title'), 10), most);
  await press('j');
  assert.notEqual(await at(page), hottest);
  await press('k');
  assert.equal(await at(page), hottest);
  await press('n');
  await press('p');
  assert.equal(await at(page), hottest);
  await press('Enter');
  assert.equal(await samples_of(page, '.asm.under'), most);
  await press('c');
  assert.equal(await count(page, '.under'), 0);
  await press('a');
  assert.equal(await samples_of(page, '.asm.under'), data.functions[0].self);
  await press('i');
  assert.equal(await count(page, '.line'), 0);
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
  const [name, line] = [await text(page, '#name'), await at(page)];
  await page.reload();
  await drawn(page);
  assert.equal(await text(page, '#name'), name);
  assert.equal(await at(page), line);
  assert.equal(await page.getAttribute('#code', 'aria-pressed'), 'true');
}

async function dark(page) {
  const back = () =>
    page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.emulateMedia({colorScheme: 'light'});
  const light = await back();
  await page.emulateMedia({colorScheme: 'dark'});
  assert.notEqual(await back(), light);
}

// Nothing hangs over at the sides; code may be scrolled by itself.
async function phone(page) {
  await page.setViewportSize({width: 360, height: 740});
  await page.reload();
  await drawn(page);
  assert.equal(
    await page.evaluate(() => document.documentElement.scrollWidth),
    360,
  );
  const box = await page.locator('#listing').boundingBox();
  assert(box.height > 250 && box.y + box.height <= 741, JSON.stringify(box));
  await page.tap('#functions li:nth-child(2) button');
  await page.tap('#next');
  await page.tap('.at');
  assert((await count(page, '.under')) > 0);
}

// Only itself is loaded, and names stand there as they are.
async function names(page) {
  const wanted = fs.readFileSync(0, 'utf8').split('\n').filter(Boolean);
  const shown = read_document().functions.map((f) => f.symbol);
  const there = await page.$$eval('#functions span', (all) =>
    all.map((one) => one.textContent),
  );
  for (const name of wanted) {
    assert(shown.includes(name), name.slice(0, 60));
    assert(there.includes(name), name.slice(0, 60));
  }
  const not_ours = 'img, b b, body > script[src], link:not([href="data:,"])';
  assert.equal(await count(page, not_ours), 0);
  assert.equal(await page.evaluate(() => window.harmed), undefined);
  assert.equal(
    await page.evaluate(
      () => document.documentElement.scrollWidth <= innerWidth,
    ),
    true,
  );
}

(async () => {
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    timeout: 0,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  const context = await browser.newContext({hasTouch: true});
  const page = await context.newPage();
  const asked = [];
  const errors = [];
  page.on('request', (request) => asked.push(request.url()));
  page.on('pageerror', (error) => errors.push(error));
  page.setDefaultTimeout(0);
  try {
    await page.goto(url);
    await drawn(page);
    await {totals, mouse, keyboard, hash, dark, phone, names}[check](page);
    assert.deepEqual(errors, []);
    assert(
      asked.every((one) => one.split('#')[0] === url),
      asked.join(' '),
    );
  } catch (problem) {
    process.exitCode = 1;
    console.log(problem.stack || String(problem), errors);
  }
  if (shot) await page.screenshot({path: shot});
  await browser.close();
})();
