// SPDX-License-Identifier: Apache-2.0
// How it looks: wide, narrow, dark. With FULL=1 pictures stay in FOLDER, to
// be looked at; what can be measured of them is measured.
'use strict';

const {assert, onPage} = require('./browser.js');

const NARROW = {width: 360, height: 740};

const looked = (what, where, options, check) =>
  onPage(what, where, options, async (page) => {
    await check(page);
    const name = what.replace(/\W+/g, '_');
    await page.pictured(name);
  });

// Nothing sticks out of the window, and buttons can be hit.
async function fits(page) {
  const bad = await page.evaluate(() => {
    const seen = [
      ...document.querySelectorAll('button, select, input, canvas'),
    ].filter(
      (element) =>
        element.offsetParent &&
        !element.closest('#legend, #path, .row, #calls, dialog'),
    );
    return seen
      .filter((element) => {
        const {left, right, bottom, width, height} =
          element.getBoundingClientRect();
        return (
          left < 0 ||
          right > innerWidth + 0.5 ||
          width < 20 ||
          bottom > innerHeight + 0.5 ||
          height < 20
        );
      })
      .map((element) => element.id);
  });
  assert.deepStrictEqual(bad, []);
  assert(
    await page.evaluate(
      () => document.documentElement.scrollWidth <= innerWidth,
    ),
  );
}

// The contrast (WCAG 2.1) of texts against what they stand on.
const contrasts = (page) =>
  page.evaluate(() => {
    const style = getComputedStyle(document.body);
    const pen = document.createElement('canvas').getContext('2d');
    const light = (name) => {
      document.body.style.color = `var(${name})`;
      pen.fillStyle = style.color;
      pen.fillRect(0, 0, 1, 1);
      const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].map((byte) => {
        const part = byte / 255;
        return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    return [
      ['--ink', '--panel'],
      ['--soft', '--panel'],
      ['--soft', '--back'],
      ['--accent', '--panel'],
      ['--accent', '--tint'],
      ['--warn', '--warn-back'],
      ['--found', '--panel'],
      ['--stolen', '--panel'],
      ['--bad', '--panel'],
      ['--ink', '--tint'],
    ]
      .map(([text, back]) => {
        const [low, high] = [light(text), light(back)].sort((a, b) => a - b);
        return [text, back, (high + 0.05) / (low + 0.05)];
      })
      .filter(([, , ratio]) => ratio < 4.5);
  });

module.exports = async () => {
  for (const scheme of ['light', 'dark']) {
    await looked(`wide, ${scheme}`, 'made.html', {scheme}, async (page) => {
      await fits(page);
      assert.deepStrictEqual(await contrasts(page), []);
    });
    const narrow = {scheme, size: NARROW};
    await looked(`narrow, ${scheme}`, 'made.html', narrow, async (page) => {
      await fits(page);
      await page.keys('g', 'ArrowUp', 'ArrowUp', 'ArrowUp');
      await page.has('#chosen', /^work /);
      await fits(page);
    });
    await looked(`comparison, ${scheme}`, 'more.html', {scheme}, fits);
  }
  const narrow = {size: NARROW};
  const shares = 'cpus.html#w=latency&f=helper';
  await looked('narrow: shares of CPUs', shares, narrow, async (page) => {
    await page.has('#notes', 'of the samples are joined');
    assert(await page.isVisible('#of'));
    assert(await page.isVisible('#blame'));
    await fits(page);
  });
  await looked('narrow: functions', 'made.html', narrow, async (page) => {
    assert(await page.isHidden('#side'));
    await page.hit('#side-toggle');
    assert(await page.isHidden('#picture'));
    assert(await page.locator('.row').first().isVisible());
    await fits(page);
  });
  // four pixels for one: more than a picture may have
  const dense = {
    script: [
      () => Object.defineProperty(window, 'devicePixelRatio', {value: 4}),
    ],
  };
  await looked('a deep stack', 'deep.html', dense, async (page) => {
    await page.has('#facts', /^100 samples/);
    await page.hit('.row:has-text("helper")');
    await page.has('#chosen', /^helper Total 100\.0 %, 100 samples/);
    const top = await page.$eval('#scroll', (one) => one.scrollTop);
    assert(top < 100, 'is at the top');
    const [, bytes] = await page.saved(() => page.keyboard.press('p'));
    const high = bytes.readUInt32BE(20);
    assert(high > 15000 && high <= 16000, `${high} pixels high`);
    await page.keys('v');
    await page.has('#path', 'callers and callees of helper');
  });
  for (const hash of ['#c=sides', '#c=change&o=change'])
    await looked(`not here: ${hash}`, 'made.html' + hash, {}, async (page) => {
      assert.strictEqual(await page.inputValue('#colour'), 'folder');
      await page.has('#facts', /samples/);
    });
  await looked('one sample is enough', 'one.html', {}, async (page) => {
    await page.has('#facts', /^1 sample /);
    await page.has('#notes', /Only 1 sample:/);
    await page.keys('g', 'ArrowUp', 'Enter', 'v', 'm', 'c', ']', 'i', 'x');
  });
  await looked('names and a focus', 'made.html', {}, async (page) => {
    const nameless = await page.evaluate(() =>
      [
        ...document.querySelectorAll(
          'button, select, input, canvas, ' + '[tabindex="0"]',
        ),
      ]
        .filter(
          (element) =>
            !(element.ariaLabel || element.title || element.textContent.trim()),
        )
        .map(({id}) => id),
    );
    assert.deepStrictEqual(nameless, []);
    for (let i = 0; i < 12; ++i) {
      await page.keyboard.press('Tab');
      const width = await page.evaluate(() =>
        parseFloat(getComputedStyle(document.activeElement).outlineWidth),
      );
      assert(width >= 2);
    }
  });
};
