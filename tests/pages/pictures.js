// SPDX-License-Identifier: Apache-2.0
// Pictures that are kept in pictures/, and compared with tolerance: means of
// square blocks of pixels, which differ little where edges are smoothed in
// another way.
//
// Where a picture has changed on purpose: look at FOLDER/NAME.new.png, and copy
// it to pictures/NAME.png.
'use strict';

const {existsSync, readFileSync, writeFileSync} = require('node:fs');
const path = require('node:path');
const {inflateSync} = require('node:zlib');
const {PNG} = require('pngjs');
const {assert, closePage, openPage, work} = require('./browser.js');
const {boxFont} = require('./box_font.js');
const {DIAGONAL} = require('./boxes.js');

const FOLDER = path.join(__dirname, 'pictures');
const NEAR = 20; // of 255: blocks whose colours differ by less are the same
const FAMILY = 'Boxes';
const PIXEL = 4; // bytes: red, green, blue, alpha

const pngOf = (url) => Buffer.from(url.split(',')[1], 'base64');

// The part of the blocks of an area that differ in two pictures.
function partOf([left, top, width, height], one, other) {
  let far = 0;
  for (let y = top; y < top + height; ++y)
    for (let x = left; x < left + width; ++x) {
      const at = PIXEL * (y * one.width + x);
      far += [at, at + 1, at + 2].some(
        (i) => Math.abs(one.data[i] - other.data[i]) > NEAR,
      );
    }
  return far / (width * height);
}

// The part of the blocks of two PNGs that differ, in that of (areas) where most
// do, by default all; 1: their sizes do.
function difference(png, other, areas) {
  const [one, two] = [png, other].map((file) => PNG.sync.read(file)),
    {width, height} = one;
  if (width !== two.width || height !== two.height) return 1;
  const parts = (areas || [[0, 0, width, height]]).map((area) =>
    partOf(area, one, two),
  );
  return Math.max(...parts);
}

// Asserts that (png) is the picture (name), but for (most) of its blocks.
function isAsItWas(name, png, most, areas) {
  const file = path.join(FOLDER, `${name}.png`);
  writeFileSync(path.join(work, `${name}.new.png`), png);
  assert(existsSync(file), `there is no ${file}`);
  const part = difference(png, readFileSync(file), areas);
  assert(part <= most, `${(100 * part).toFixed(2)} % differ`);
}

// ---- sheets: a page in windows of several sizes and themes

const BLOCK = 16,
  STEP = 8; // of the colours in a sheet, which is smaller so
const SHEET_MOST = 0.001; // of the blocks of one look may differ by more

// Where in a sheet each of (looks) is, in blocks: one below the other.
function areasOf(looks) {
  let top = 0;
  return looks.map(([size]) => {
    const [width, height] = [size.width, size.height].map((pixels) =>
      Math.floor(pixels / BLOCK),
    );
    top += height;
    return [0, top - height, width, height];
  });
}

// In a page, before all else: texts are of the font (bytes), in base64.
function useFont([family, base64, style]) {
  const bytes = Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
  document.fonts.add(new FontFace(family, bytes));
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  document.adoptedStyleSheets = [sheet];
  const pen = CanvasRenderingContext2D.prototype,
    font = Object.getOwnPropertyDescriptor(pen, 'font');
  Object.defineProperty(pen, 'font', {
    ...font,
    set(text) {
      font.set.call(this, text.replace(/(\d+px).*/, `$1 ${family}`));
    },
  });
}

const STYLE = `*, ::before, ::after, ::placeholder {
  font-family: ${FAMILY} !important; font-synthesis: none !important;
  letter-spacing: 0 !important; font-stretch: 100% !important;
  transition: none !important; animation: none !important;
}`;

const IHDR = 16, // where its width is
  OPAQUE = 2, // colour type: red, green, blue
  UP = 2; // filter: differences from the row above

// The pixels of a PNG without interlacing, as Chromium writes them when asked
// for speed: in a twentieth of the time that pngjs takes. Undefined: it is of
// another kind.
function pixelsOf(png) {
  const [width, height] = [IHDR, IHDR + 4].map((at) => png.readUInt32BE(at)),
    [depth, type, , , interlaced] = png.subarray(IHDR + 8),
    parts = [],
    row = 3 * width;
  if (depth !== 8 || type !== OPAQUE || interlaced) return undefined;
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at))
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  const packed = inflateSync(Buffer.concat(parts)),
    data = new Uint8Array(row * height);
  for (let y = 0; y < height; ++y) {
    const from = y * (row + 1),
      to = y * row,
      filter = packed[from];
    if (filter !== 0 && filter !== UP) return undefined;
    if (filter === 0 || y === 0)
      data.set(packed.subarray(from + 1, from + 1 + row), to);
    else
      for (let i = 0; i < row; ++i)
        data[to + i] = packed[from + 1 + i] + data[to - row + i];
  }
  return {width, height, data, bytes: 3};
}

// The means of the blocks of a PNG, as a picture.
function means(png) {
  const shot = pixelsOf(png) || {...PNG.sync.read(png), bytes: PIXEL},
    {width, height, data, bytes} = shot,
    [columns, rows] = [width, height].map((size) => Math.floor(size / BLOCK)),
    sums = new Float64Array(PIXEL * columns * rows),
    found = new PNG({width: columns, height: rows});
  for (let y = 0; y < rows * BLOCK; ++y) {
    const row = Math.floor(y / BLOCK) * columns;
    for (let x = 0; x < columns * BLOCK; ++x) {
      const to = PIXEL * (row + Math.floor(x / BLOCK)),
        from = bytes * (y * width + x);
      sums[to] += data[from];
      sums[to + 1] += data[from + 1];
      sums[to + 2] += data[from + 2];
      sums[to + 3] += 255; // the pages are opaque
    }
  }
  const stepOf = (sum) => Math.round(sum / BLOCK ** 2 / STEP) * STEP;
  found.data = Buffer.from(Uint8ClampedArray.from(sums, stepOf));
  return found;
}

// One PNG of the means of all (shots), one below the other.
function joined(shots) {
  const all = shots.map(means),
    sheet = new PNG({
      width: Math.max(...all.map(({width}) => width)),
      height: all.reduce((sum, {height}) => sum + height, 0),
      fill: true,
    });
  let top = 0;
  for (const one of all) {
    PNG.bitblt(one, sheet, 0, 0, one.width, one.height, 0, top);
    top += one.height;
  }
  return PNG.sync.write(sheet, {colorType: 2});
}

// The sheet of a page that is drawn with (style) too, in (looks).
async function sheetOf(where, {style = '', looks = DIAGONAL} = {}) {
  const font = boxFont(FAMILY).toString('base64');
  const page = await openPage(where, {
    script: [useFont, [FAMILY, font, STYLE + style]],
  });
  const session = await page.devTools(),
    shots = [];
  for (const [size, colorScheme] of looks) {
    await page.setViewportSize(size);
    await page.emulateMedia({colorScheme});
    await page.drawn();
    // a larger file in less time than that of page.screenshot()
    const {data} = await session.send('Page.captureScreenshot', {
      format: 'png',
      optimizeForSpeed: true,
    });
    shots.push(Buffer.from(data, 'base64'));
  }
  assert.deepStrictEqual(page.problems, []);
  await closePage(page);
  return joined(shots);
}

// Asserts that the sheet of a page is as it was.
async function sameSheet(name, where, options = {}) {
  const areas = areasOf(options.looks || DIAGONAL);
  isAsItWas(name, await sheetOf(where, options), SHEET_MOST, areas);
}

// Which part of the sheet of a page differs.
async function changedSheet(name, where, options) {
  const png = await sheetOf(where, options),
    before = readFileSync(path.join(FOLDER, `${name}.png`));
  return difference(png, before, areasOf(options.looks || DIAGONAL));
}

module.exports = {
  SHEET_MOST,
  changedSheet,
  difference,
  isAsItWas,
  pngOf,
  sameSheet,
};
