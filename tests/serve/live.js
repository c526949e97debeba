// SPDX-License-Identifier: Apache-2.0
// The page of the guests of one serve, in Chromium without a window.
// usage: node live.js FOLDER - PARASITE ADDRESS BOOT
'use strict';

const {assert, drive, onPage} = require('../pages/browser.js');
const {fitsEverywhere} = require('../pages/boxes.js');

const [address, boot] = process.argv.slice(5);
const STILL = '#paused=1'; // it does not load itself again

const rows = (page) => page.texts('#rows tr');
const fits = (page, name) =>
  fitsEverywhere(page, name, () => page.drawn(), {
    ellipsis: 'td, #functions b, h1',
    ignore: '#scroll td',
  });

async function guestsAreThere(page) {
  await page.has('#facts', /^2 guests .* ticks\/s .* of 1074 MB/);
  const shown = await rows(page);
  assert.strictEqual(shown.length, 2);
  assert(
    shown.some((row) => /split/.test(row) && row.includes(boot.slice(0, 8))),
  );
  assert(shown.some((row) => / one /.test(row) && row.includes('3d3d3d3d')));
  await page.fill('#filter', '3d3d');
  await page.drawn();
  assert.strictEqual((await rows(page)).length, 1);
  await fits(page, 'live');
}

// It has a rate as soon as it was seen for a second; the page loads itself.
async function itLoadsItselfAgain(page) {
  const first = await page.text('#facts');
  await page.waitForFunction(
    (before) => {
      const {dataset} = document.body;
      return (
        dataset.ready && document.getElementById('facts').innerText !== before
      );
    },
    first,
    {timeout: 600000},
  );
  await page.waitForFunction(
    () =>
      [...document.querySelectorAll('#rows tr')].some((row) =>
        /sending.*\d %/s.test(row.innerText),
      ),
    {},
    {timeout: 600000},
  );
}

async function functionsOfAGuest(page) {
  await page.waitForSelector('#functions li');
  const found = await page.texts('#functions b');
  assert(
    found.some((name) => /^(leaf|level)_/.test(name)),
    String(found),
  );
  await fits(page, 'live-functions');
  await page.click('tr[aria-current=true] a');
  await page.waitForSelector('body[data-ready] #top[hidden]', {
    state: 'attached',
  });
}

drive(async () => {
  await onPage('guests are in the table', address + STILL, guestsAreThere);
  await onPage('it loads itself again', address, itLoadsItselfAgain);
  await onPage(
    ...['functions of a guest', `${address}?boot=${boot}${STILL}`],
    functionsOfAGuest,
  );
});
