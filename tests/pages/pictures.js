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
const {assert, closePage, newPage, openPage, work} = require('./browser.js');
const {boxFont} = require('./box_font.js');
const {DIAGONAL} = require('./boxes.js');

const FOLDER = path.join(__dirname, 'pictures');
const NEAR = 20; // of 255: blocks whose colours differ by less are the same
const FAMILY = 'Boxes';

const urlOf = (png) => `data:image/png;base64,${png.toString('base64')}`;
const pngOf = (url) => Buffer.from(url.split(',')[1], 'base64');

// The part of the blocks of two PNGs that differ, in that of (areas) where most
// do, by default all; 1: their sizes do. They are decoded in (page).
const difference = (page, one, other, areas) =>
  page.evaluate(
    async ([urls, near, wanted]) => {
      const images = await Promise.all(
        urls.map(async (url) => {
          const image = new Image();
          image.src = url;
          await image.decode();
          const {width, height} = image,
            canvas = Object.assign(document.createElement('canvas'), {
              width,
              height,
            }),
            pen = canvas.getContext('2d');
          pen.drawImage(image, 0, 0);
          return {width, height, pen};
        }),
      );
      const [{width, height}, second] = images;
      if (width !== second.width || height !== second.height) return 1;
      const partOf = (area) => {
        const [a, b] = images.map(({pen}) => pen.getImageData(...area).data);
        let far = 0;
        for (let i = 0; i < a.length; i += 4)
          far += [0, 1, 2].some((c) => Math.abs(a[i + c] - b[i + c]) > near);
        return far / (a.length / 4);
      };
      return Math.max(...(wanted || [[0, 0, width, height]]).map(partOf));
    },
    [[one, other].map(urlOf), NEAR, areas],
  );

// Asserts that (png) is the picture (name), but for (most) of its blocks.
async function isAsItWas(page, name, png, most, areas) {
  const file = path.join(FOLDER, `${name}.png`);
  writeFileSync(path.join(work, `${name}.new.png`), png);
  assert(existsSync(file), `there is no ${file}`);
  const part = await difference(page, png, readFileSync(file), areas);
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

// In a page: one PNG of the means of all (urls), each in its area.
async function joined([urls, areas, block, step]) {
  const sheet = document.createElement('canvas');
  sheet.width = Math.max(...areas.map(([x, , width]) => x + width));
  sheet.height = Math.max(...areas.map(([, y, , height]) => y + height));
  const pen = sheet.getContext('2d');
  for (const [i, [left, top, width, height]] of areas.entries()) {
    const image = new Image();
    image.src = urls[i];
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = width * block;
    canvas.height = height * block;
    const from = canvas.getContext('2d', {willReadFrequently: true});
    from.drawImage(image, 0, 0);
    const {data} = from.getImageData(0, 0, canvas.width, canvas.height),
      means = pen.createImageData(width, height),
      sums = new Float64Array(means.data.length);
    for (let at = 0; at < data.length; ++at) {
      const x = Math.floor(((at >> 2) % canvas.width) / block),
        y = Math.floor((at >> 2) / canvas.width / block);
      sums[(y * width + x) * 4 + (at & 3)] += data[at];
    }
    sums.forEach((sum, at) => {
      const mean = sum / block ** 2;
      means.data[at] = (at & 3) === 3 ? 255 : Math.round(mean / step) * step;
    });
    pen.putImageData(means, left, top);
  }
  return sheet.toDataURL('image/png');
}

// The sheet of a page that is drawn with (style) too.
async function sheetOf(tool, where, {style = '', looks = DIAGONAL} = {}) {
  const font = boxFont(FAMILY).toString('base64');
  const page = await openPage(where, {
    before: (fresh) =>
      fresh.addInitScript(useFont, [FAMILY, font, STYLE + style]),
  });
  const shots = [];
  for (const [size, colorScheme] of looks) {
    await page.setViewportSize(size);
    await page.emulateMedia({colorScheme});
    await page.drawn();
    shots.push(urlOf(await page.screenshot()));
  }
  assert.deepStrictEqual(page.problems, []);
  await closePage(page);
  const areas = areasOf(looks);
  return pngOf(await tool.evaluate(joined, [shots, areas, BLOCK, STEP]));
}

// Runs (check) with what compares sheets: same(name, where, options) asserts
// that one is as it was, changed(name, where, options) says which part differs.
async function withSheets(check) {
  const tool = await newPage({width: 800, height: 600});
  const areas = ({looks = DIAGONAL}) => areasOf(looks);
  try {
    await check({
      same: async (name, where, options) => {
        const png = await sheetOf(tool, where, options);
        await isAsItWas(tool, name, png, SHEET_MOST, areas(options));
      },
      changed: async (name, where, options) => {
        const png = await sheetOf(tool, where, options),
          before = readFileSync(path.join(FOLDER, `${name}.png`));
        return difference(tool, png, before, areas(options));
      },
    });
  } finally {
    await tool.close();
  }
}

module.exports = {
  SHEET_MOST,
  difference,
  isAsItWas,
  pngOf,
  withSheets,
};
