// SPDX-License-Identifier: Apache-2.0
// A program that hangs (tests/tool/make_pending.c): what has not ended is drawn
// to the end and comes first, and a gap hides what it hides. And how pages with
// tasks look at both sizes, in both themes.
'use strict';

const {test} = require('./tap.js');
const {assert, onPage, painted, textsOf, withPage} = require('./browser.js');
const {SIZES, SCHEMES, wrongWith} = require('./boxes.js');

const fresh = (what, name, hash, check, options) =>
  onPage(what, name, check, {hash, whenOpen: painted, ...options});

// Colours on the row (row), a pixel of each twentieth of the width.
const coloursOf = (page, row) =>
  page.evaluate(
    (y) => {
      const canvas = document.getElementById('canvas'),
        scale = canvas.width / canvas.clientWidth,
        pen = canvas.getContext('2d');
      return Array.from({length: 18}, (_, i) =>
        pen
          .getImageData(
            Math.round(((i + 1) / 20) * canvas.width),
            Math.round(y * scale),
            1,
            1,
          )
          .data.slice(0, 3)
          .join(),
      );
    },
    34 + (row + 0.5) * 26,
  );

async function standing() {
  await fresh(
    'what has not ended comes first, and what rests is counted',
    'pending.html',
    '',
    async (page) => {
      assert.deepStrictEqual(await textsOf(page, '#open tr'), [
        'Still pending For',
        'answer 2 services/made/client.c:30 pending 6.00 s',
        'client 1 services/made/client.c:12 waiting 6.00 s',
      ]);
      assert.deepStrictEqual(await textsOf(page, '#resting'), [
        'and 1 that rest, as idle mutexes do',
      ]);
    },
  );
  await fresh(
    'a promise that was never resolved is drawn to the end',
    'pending.html',
    '',
    async (page) => {
      const colours = await coloursOf(page, 1),
        ground = (await coloursOf(page, 8))[3];
      assert(!colours.includes(ground), colours.join(' '));
    },
  );
  await fresh(
    'the waiter\u2019s critical path names the promise',
    'pending.html',
    '#o=3&p=object',
    async (page) => {
      const path = await textsOf(page, '#path tr');
      assert.match(path[0], /^answer 2: waiting for .* 6\.00 s 100\.0 %$/);
      const split = await textsOf(page, '#split tr');
      assert.match(split[0], /^waiting for answer 2, asks 6\.00 s/);
    },
  );
  await fresh(
    'sites of what has not ended are the first',
    'pending.html',
    '#p=late',
    async (page) => {
      await page.waitForSelector('#panel[data-done]');
      const rows = await textsOf(page, '#late tr');
      assert.match(rows[1], /^answer services\/made\/client\.c:30$/);
      assert.match(rows[2], / 6\.00 s$/);
      assert.match(rows.at(-1), /–$/);
    },
  );
}

async function gaps() {
  await fresh(
    'what a gap hides has neither ended nor is it open',
    'pending_gap.html',
    '#o=4&p=object',
    async (page) => {
      assert.match(
        (await textsOf(page, '#panel dl')).join(' '),
        /State unknown/,
      );
    },
  );
  await fresh(
    'a gap is as wide as what is missing, and in the legend',
    'pending_gap.html',
    '',
    async (page) => {
      assert.deepStrictEqual(await textsOf(page, '#open tr'), []);
      const legend = await textsOf(page, '#legend li');
      assert(legend.includes('lost: unknown'), legend.join());
      const colours = new Set(await coloursOf(page, 1)),
        ground = (await coloursOf(page, 8))[3];
      // hatched wherever it is looked at
      assert(colours.size > 1 || !colours.has(ground), [...colours].join(' '));
    },
  );
}

const VIEWS = {
  'tasks.html': ['', '#p=sites', '#p=late', '#p=interrupts', '#p=stacks'],
  'pending.html': ['', '#o=3&p=object', '#p=late'],
  'gap.html': [''],
  'pair.html': [''],
};

// The panels do not depend on the theme: each of the two at one size.
async function looks() {
  for (const [name, hashes] of Object.entries(VIEWS))
    await test(`${name} is seen whole, at any size and theme`, async () => {
      for (const [i, size] of SIZES.entries())
        await withPage(
          name,
          async (page) => {
            for (const [j, colorScheme] of SCHEMES.entries()) {
              await page.emulateMedia({colorScheme});
              for (const hash of i === j ? hashes : ['']) {
                await page.evaluate((to) => {
                  location.hash = to;
                }, hash);
                await painted(page);
                assert.deepStrictEqual(
                  await wrongWith(page),
                  [],
                  `${size.width} ${colorScheme} ${hash}`,
                );
              }
            }
          },
          {size},
        );
    });
}

module.exports = async () => {
  await standing();
  await gaps();
  await looks();
};
