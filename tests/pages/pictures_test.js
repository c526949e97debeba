// SPDX-License-Identifier: Apache-2.0
// Whole pictures of the timeline, compared with those in pictures/. The picture
// has a fixed size and is drawn without texts. That the tolerance is not too
// wide is tested, too: arrows, bars or colours that change are found.
'use strict';

const path = require('node:path');
const {test} = require('./tap.js');
const {assert, closePage, openPage, work} = require('./browser.js');
const {difference, isAsItWas, pngOf} = require('./pictures.js');
const {timelineOf} = require('./timeline_model.js');

const BLOCK = 4,
  WIDTH = 1000,
  HEIGHT = 560;
const FAR_MAX = 0.002; // at most this part of the blocks may differ by more

// The picture fills a corner of fixed size; there are no texts, nor (style).
const STYLE = `#picture {
  position: fixed; left: 0; top: 0; z-index: 99; border: 0; border-radius: 0;
  width: ${WIDTH}px; height: ${HEIGHT}px;
}`;

async function pictureOf(where, {scheme = 'light', style = ''} = {}) {
  const page = await openPage(where, {
    scheme,
    script: [
      (css) => {
        const pen = CanvasRenderingContext2D.prototype;
        pen.fillText = pen.strokeText = () => {};
        document.addEventListener('DOMContentLoaded', () => {
          const element = document.createElement('style');
          element.textContent = css;
          document.head.append(element);
        });
      },
      STYLE + style,
    ],
  });
  const url = await page.evaluate(shrunk, BLOCK);
  assert.deepStrictEqual(page.problems, []);
  await closePage(page);
  return pngOf(url);
}

// In the page: the means of its blocks as a PNG.
function shrunk(block) {
  const canvas = document.getElementById('canvas'),
    small = document.createElement('canvas'),
    width = Math.floor(canvas.width / block),
    height = Math.floor(canvas.height / block);
  Object.assign(small, {width, height});
  const {data} = canvas
      .getContext('2d')
      .getImageData(0, 0, width * block, height * block),
    pen = small.getContext('2d'),
    means = pen.createImageData(width, height);
  for (let i = 0; i < means.data.length; ++i) {
    const x = (i >> 2) % width,
      y = Math.floor((i >> 2) / width);
    let sum = 0;
    for (let dy = 0; dy < block; ++dy)
      for (let dx = 0; dx < block; ++dx)
        sum +=
          data[
            ((y * block + dy) * width * block + x * block + dx) * 4 + (i & 3)
          ];
    means.data[i] = Math.round(sum / block ** 2);
  }
  pen.putImageData(means, 0, 0);
  return small.toDataURL('image/png');
}

module.exports = async () => {
  const {model} = await timelineOf(path.join(work, 'large.html')),
    near = `large.html#a=${model.lastTime * 0.3}&b=${model.lastTime * 0.306}`,
    gap = (await timelineOf(path.join(work, 'gap.html'))).model.losses[0];
  const pictures = {
    arrows: [near],
    bars: [`${near}&w=`],
    dark: [near, {scheme: 'dark'}],
    whole: ['large.html'],
    alike: ['alike.html'],
    gap: [`gap.html#a=${gap.begin[0] - 2000}&b=${gap.end[0] + 2000}`],
    pair: ['pair.html'],
  };
  const taken = {};
  for (const [name, [where, options]] of Object.entries(pictures))
    await test(`picture "${name}" is as it was`, async () => {
      taken[name] = await pictureOf(where, options);
      isAsItWas(name, taken[name], FAR_MAX);
    });
  const changes = {
    'arrows that are missing': ['arrows', `${near}&w=`],
    'one kind of arrows that is missing': [
      'arrows',
      `${near}&w=create.read.try_read.resolve.fail`,
    ],
    'another colour of arrows': ['arrows', near, '--read: #c08000'],
    'another colour of bars': ['bars', `${near}&w=`, '--run: #70a0ff'],
    'bars that are not drawn': ['bars', `${near}&w=`, '--ready: transparent'],
    'another colour of groups': ['alike', 'alike.html', '--density: #508050'],
    'another ground': ['whole', 'large.html', '--ground: #f4d8d8'],
  };
  for (const [what, [name, where, colour]] of Object.entries(changes))
    await test(`pictures find ${what}`, async () => {
      const style = colour ? `:root { ${colour} !important; }` : '',
        changed = await pictureOf(where, {style}),
        part = difference(changed, taken[name]);
      assert(part > FAR_MAX, `only ${(100 * part).toFixed(2)} % differ`);
    });
};
