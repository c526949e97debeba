// SPDX-License-Identifier: Apache-2.0
// What is seen where scripts are off, or where the page cannot draw: a static
// picture, which has a bounded size.
'use strict';

const path = require('node:path');
const {test} = require('./tap.js');
const {SIZE, assert, newPage, read, work} = require('./browser.js');

const SVG_BYTES_MAX = 49152; // PAGE_PICTURE_MAX
const PAGES = {
  looks: ['made.html', 'more.html', 'ten.html', 'deep.html', 'x86_64.html'],
  large: ['large.html'],
  tasks: ['large.html', 'many.html', 'alike.html', 'pair.html', 'pending.html'],
};
// Those that have less than all.
const CUT = ['large.html', 'many.html', 'alike.html', 'pair.html'];

function svgOf(name) {
  const found = read(name).match(
    /<img class="static"[^>]* src="data:image\/svg\+xml;base64,([^"]*)"/,
  );
  return found ? Buffer.from(found[1], 'base64') : null;
}

// An empty page whose scripts are off.
async function scriptless() {
  const page = await newPage(SIZE),
    session = await page.context().newCDPSession(page);
  await session.send('Emulation.setScriptExecutionDisabled', {value: true});
  return page;
}

// Has (page) show a file; (scheme) is light or dark.
async function withoutScripts(page, name, scheme, check) {
  await page.bringToFront();
  await page.emulateMedia({colorScheme: scheme});
  await page.goto('file://' + path.resolve(work, name));
  await check(page);
}

// Each colour of the picture as it is seen, with the part of it that it has.
const coloursOf = (page) =>
  page.$eval('img.static', async (image) => {
    await image.decode();
    const canvas = document.createElement('canvas'),
      {width, height} = image;
    Object.assign(canvas, {width, height});
    const pen = canvas.getContext('2d');
    pen.drawImage(image, 0, 0, width, height);
    const {data} = pen.getImageData(0, 0, width, height),
      colours = {};
    for (let i = 0; i < data.length; i += 4) {
      const key = data.slice(i, i + 3).join();
      colours[key] = (colours[key] || 0) + 4 / data.length;
    }
    return colours;
  });

// Nothing but texts and the picture, which is wide enough to be read.
async function seen(page) {
  assert(await page.isVisible('img.static'));
  for (const id of ['#title', 'nav', 'main', 'footer'])
    assert(await page.isHidden(id), id);
  const {width, height} = await page.locator('img.static').boundingBox();
  assert(width > 1000 && height > 60, `${width} x ${height}`);
  const text = await page.innerText('body');
  assert.match(text, /This page needs JavaScript, which is off here/);
  assert.match(text, /static picture of/);
  const colours = Object.values(await coloursOf(page));
  assert(colours.length > 8, `${colours.length} colours`);
  assert(Math.max(...colours) < 0.95, 'there is more than the ground');
  return text;
}

// Where the page cannot draw: the same picture below what is wrong.
async function withoutCanvas(name) {
  const page = await newPage(SIZE),
    problems = [];
  page.on('pageerror', (error) => problems.push(error.stack));
  await page.addInitScript(() => {
    HTMLCanvasElement.prototype.getContext = () => null;
  });
  await page.goto('file://' + path.resolve(work, name));
  await page.waitForSelector('img.static');
  assert.strictEqual(
    await page.innerText('#title'),
    'This page cannot be displayed',
  );
  assert.match(await page.innerText('#facts'), /let the page use a canvas/);
  assert(await page.isHidden('main'));
  const {y, height} = await page.locator('img.static').boundingBox();
  assert(y + Math.min(height, 200) <= SIZE.height, 'it is in sight');
  assert.deepStrictEqual(problems, []);
  await page.close();
}

module.exports = async () => {
  const names = PAGES[process.argv[3]],
    empty = await scriptless();
  for (const scheme of ['light', 'dark'])
    await test(`${names[0]} without scripts, ${scheme}`, () =>
      withoutScripts(empty, names[0], scheme, async (page) => {
        await seen(page);
        const file = path.join(work, `static_${scheme}.png`);
        if (process.env.FULL === '1') await page.screenshot({path: file});
      }));
  for (const name of names.slice(1))
    await test(`${name} without scripts`, () =>
      withoutScripts(empty, name, 'light', async (page) => {
        const text = await seen(page);
        if (name.includes('many')) assert.match(text, /the first [\d.]+ ms of/);
      }));
  await empty.close();
  await test('a static picture is bounded', () => {
    for (const name of names) {
      const {length} = svgOf(name);
      assert(length <= SVG_BYTES_MAX, `${name}: ${length} bytes`);
      if (CUT.includes(name)) assert(length > SVG_BYTES_MAX / 8, name);
    }
  });
  await test('no canvas: a picture', () => withoutCanvas(names[0]));
  if (process.argv[3] === 'looks')
    await test('from both sides there is a sentence instead', () => {
      assert.strictEqual(svgOf('both.html'), null);
      assert.match(read('both.html'), /<p>A static picture [^<]*<\/p>/);
    });
};
