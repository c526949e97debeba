// SPDX-License-Identifier: Apache-2.0
// That boxes.js finds what it is for, and nothing else.
'use strict';

const {test} = require('./tap.js');
const {assert, newPage} = require('./browser.js');
const {wrongWith} = require('./boxes.js');

const at = (left, top, more = '') =>
  `style="position: absolute; left: ${left}px; top: ${top}px; ${more}"`;
const PAGES = {
  'a page in which all is well': [
    `<h1>Title</h1><p>some <b>bold</b> text</p><ul><li>one<li>two</ul>
     <button>go</button> <select><option>a<option>b</select>
     <div style="height: 50px; overflow: auto">${'line<br>'.repeat(30)}</div>
     <svg width="200" height="40"><rect width="200" height="40" fill="red"/>
     <text x="5" y="20">seen</text></svg>
     <div role="status" ${at(0, 0)}>a tip lies on the rest</div>
     <p hidden>hidden</p><div style="height: 2000px"></div><p>far below</p>`,
    [],
  ],
  'two texts that overlap': [
    `<p ${at(20, 20)}>first</p><p ${at(30, 22)}>second</p>`,
    [/"first" \(p\) and "second" \(p\) overlap/],
  ],
  'bullets in a row': [
    `<ul style="display: flex; gap: 8px"><li>one<li>two</ul>`,
    [/"one" \(li\) and "bullet of two" \(li\) overlap/],
  ],
  'a text in a button of another': [
    `<button ${at(20, 20)}>press</button><p ${at(22, 8)}>on it</p>`,
    [/"press"|button/, /overlap/],
  ],
  'what sticks out of the window': [
    `<p ${at(780, 20, 'white-space: nowrap')}>a long text</p>`,
    [/"a long text" \(p\) sticks out/, /sideways/],
  ],
  'what a box cuts off': [
    `<div style="width: 40px; overflow: hidden; white-space: nowrap">a long
     text</div>`,
    [/"a long text" \(div\) is cropped/],
  ],
  'what a picture cuts off': [
    `<svg width="100" height="40"><text x="5" y="20" text-anchor="end">seen
     </text></svg>`,
    [/"seen" \(text\) (is cropped|sticks out)/],
  ],
  'an ellipsis': [
    `<div style="width: 40px; overflow: hidden; white-space: nowrap;
     text-overflow: ellipsis">a long text</div>`,
    [/is cropped/],
  ],
  'a placeholder that is too long': [
    `<input type="search" style="width: 60px" placeholder="a long text">`,
    [/"a long text" \(input\) is cropped/],
  ],
  'a text behind a panel': [
    `<p>text</p><div ${at(0, 0, 'width: 300px; height: 90px; background: red')}>
     </div>`,
    [/"text" \(p\) is behind div/],
  ],
  'what cannot be scrolled to': [
    `<style>body { overflow: hidden }</style><p ${at(20, 900)}>below</p>`,
    [/"below" \(p\) sticks out of the window/],
  ],
};

module.exports = async () => {
  const page = await newPage({width: 800, height: 600});
  for (const [what, [body, wanted]] of Object.entries(PAGES))
    await test(`boxes: ${what}`, async () => {
      await page.setContent(`<!doctype html><body>${body}`);
      const found = await wrongWith(page);
      if (!wanted.length) assert.deepStrictEqual(found, []);
      for (const one of wanted)
        assert(
          found.some((line) => one.test(line)),
          `no ${one} in ${found.join('; ')}`,
        );
    });
  await test('boxes: an ellipsis may be allowed', async () => {
    await page.setContent(`<!doctype html><body>${PAGES['an ellipsis'][0]}`);
    assert.deepStrictEqual(await wrongWith(page, {ellipsis: 'div'}), []);
  });
  await page.close();
};
