// SPDX-License-Identifier: Apache-2.0
// A program that hangs (harness/made_profile.py): what has not ended is drawn
// to the end and comes first, and a gap hides what it hides. And how pages with
// tasks look at both sizes, in both themes.
'use strict';

const {assert, onPage} = require('./browser.js');
const {DIAGONAL, SEEN, fitsEverywhere} = require('./boxes.js');

// Colours on the row (row), a pixel of each twentieth of the width.
async function coloursOf(page, row) {
  const {width} = await page.box('#canvas'),
    parts = Array.from({length: 18}, (_, i) => (i + 1) / 20),
    places = parts.map((part) => [part * width, 34 + (row + 0.5) * 26]);
  return (await page.coloursOf('#canvas', places)).map(String);
}

const PENDING = 'pending.html';

async function standing() {
  await onPage('what hangs comes first', PENDING, async (page) => {
    assert.deepStrictEqual(await page.texts('#open tr'), [
      'Still pending For',
      'answer 2 services/made/client.c:30 pending 6.00 s',
      'client 1 services/made/client.c:12 waiting 6.00 s',
    ]);
    assert.deepStrictEqual(await page.texts('#resting'), [
      'and 1 that rest, as idle mutexes do',
    ]);
  });
  await onPage('a promise is drawn to the end', PENDING, async (page) => {
    const colours = await coloursOf(page, 2), // below the loop's
      ground = (await coloursOf(page, 8))[3];
    assert(!colours.includes(ground), colours.join(' '));
  });
  const waiter = `${PENDING}#o=3&p=object`;
  await onPage('its critical path names the promise', waiter, async (page) => {
    const path = await page.texts('#path tr');
    assert.match(path[0], /^answer 2: waiting for .* 6\.00 s 100\.0 %$/);
    const split = await page.texts('#split tr');
    assert.match(split[0], /^waiting for answer 2, asks 6\.00 s/);
  });
  const late = `${PENDING}#p=late`;
  await onPage('sites of what hangs are the first', late, async (page) => {
    await page.waitForSelector('#panel[data-done]');
    const rows = await page.texts('#late tr');
    assert.match(rows[1], /^answer services\/made\/client\.c:30$/);
    assert.match(rows[2], / 6\.00 s$/);
    assert.match(rows.at(-1), /–$/);
  });
}

async function gaps() {
  const hidden = 'pending_gap.html#o=4&p=object';
  await onPage('a gap hides whether it ended', hidden, async (page) => {
    assert.match((await page.texts('#panel dl')).join(' '), /State unknown/);
  });
  await onPage('a gap is wide', 'pending_gap.html', async (page) => {
    assert.deepStrictEqual(await page.texts('#open tr'), []);
    const legend = await page.texts('#legend li');
    assert(legend.includes('lost: unknown'), legend.join());
    const colours = new Set(await coloursOf(page, 1)),
      ground = (await coloursOf(page, 8))[3];
    // hatched wherever it is looked at
    assert(colours.size > 1 || !colours.has(ground), [...colours].join(' '));
  });
}

const VIEWS = {
  'tasks.html': ['', '#p=sites', '#p=late', '#p=interrupts', '#p=stacks'],
  'pending.html': ['', '#o=3&p=object', '#p=late'],
  'gap.html': [''],
  'pair.html': [''],
};

async function looks() {
  // a window of another size costs more than another panel; panels do not
  // depend on the theme
  const isSeen = (look, hash) => !hash || DIAGONAL.includes(look);
  for (const [name, hashes] of Object.entries(VIEWS))
    await onPage(`${name} is seen whole`, name, async (page) => {
      for (const look of SEEN)
        for (const hash of hashes.filter((one) => isSeen(look, one))) {
          const show = () => page.goTo(hash);
          await fitsEverywhere(page, name + hash, show, {looks: [look]});
        }
    });
}

module.exports = async () => {
  await standing();
  await gaps();
  await looks();
};
