// SPDX-License-Identifier: Apache-2.0
// The pages of many guests, in Chromium without a window.
// usage: node pages.js FOLDER - PARASITE; with FULL=1 pictures stay in FOLDER
'use strict';

const {assert, drive, onPage, read} = require('../pages/browser.js');
const {fitsEverywhere} = require('../pages/boxes.js');
const {sameSheet} = require('../pages/pictures.js');
const {test} = require('../pages/tap.js');

const data = JSON.parse(read('list.json'));
const top = JSON.parse(read('top.json'));
const odd = JSON.parse(read('odd.json'));
const GUESTS = data.guests.length;
const ODD = odd.guests.filter((guest) => guest.odd);

const LOSSES = new RegExp(
  '^120 rows of samples .* spool full ?' +
    '7 packets .* among the dropped.* packets missing$',
);

const rows = (page) => page.texts('#rows tr');
const column = (page, number) => page.texts(`#rows tr td:nth-child(${number})`);
const shares = (texts) => texts.map((text) => parseFloat(text));

async function allGuestsAreThere(page) {
  await page.has('#facts', /^108 guests .* 6,480,000 ticks .* 0\.09 % lost/);
  assert.strictEqual((await rows(page)).length, GUESTS);
  const busy = shares(await column(page, 7));
  assert.deepStrictEqual(
    busy,
    [...busy].sort((a, b) => b - a),
  );
  const wanted = data.guests.map((guest) => (100 * guest.busy).toFixed(2));
  assert.deepStrictEqual(
    (await column(page, 7)).sort(),
    wanted.map((text) => `${text} %`).sort(),
  );
  await page.has('#losses', LOSSES);
  await page.pictured('guests');
}

async function theyAreSorted(page) {
  await page.hit('#columns th:nth-child(10) button');
  const lost = shares(await column(page, 10));
  assert.strictEqual(lost[0], 10);
  assert.match((await rows(page))[0], /web-17 /);
  assert.strictEqual(await page.locator('#rows td.bad').count(), 4);
  await page.hit('#columns th:nth-child(10) button');
  assert.strictEqual(shares(await column(page, 10)).at(-1), 10);
  await page.hit('#columns th:nth-child(3) button');
  const names = await column(page, 3);
  assert.strictEqual(names[0], 'host0 shm:/dev/shm/mail-0');
  assert(
    names.indexOf('host0 shm:/dev/shm/web-4') <
      names.indexOf('host0 shm:/dev/shm/web-12'),
  );
}

async function oddOnesAreMarked(page) {
  await page.hit('#odd');
  const shown = await rows(page);
  assert.strictEqual(shown.length, ODD.length);
  for (const guest of ODD)
    assert(
      shown.some((row) => row.includes(guest.target)),
      `${guest.target} is not in ${shown}`,
    );
  await page.has('#notes', '2 odd guests');
  await page.has('#more', '2 of 108 guests');
}

async function theyAreFiltered(page) {
  await page.fill('#filter', 'WEB-4');
  await page.drawn();
  assert.strictEqual((await rows(page)).length, 11);
  await page.fill('#filter', 'zone=a');
  await page.drawn();
  assert.strictEqual((await rows(page)).length, GUESTS / 2);
}

async function aServiceIsChosen(page) {
  await page.selectOption('#service', 'mail');
  await page.drawn();
  assert.strictEqual((await rows(page)).length, 8);
  const builds = await page.locator('#chart .build text').allTextContents();
  assert.deepStrictEqual(builds, [`mail ${data.guests[0].build.slice(0, 12)}`]);
}

// Bars of the chart are the minutes' shares.
async function theChartAddsUp(page) {
  const minutes = await page.evaluate(() =>
    [...document.querySelectorAll('#chart .minute')].map((minute) =>
      Object.fromEntries(
        [...minute.children].map((rect) => [
          rect.getAttribute('class'),
          Number(rect.getAttribute('height')),
        ]),
      ),
    ),
  );
  assert.strictEqual(minutes.length, 10);
  const sums = {};
  for (const minute of minutes) {
    const heights = Object.values(minute);
    const whole = heights.reduce((a, b) => a + b, 0);
    assert(Math.abs(whole - 150) < 1e-6, `${whole}`);
    for (const [name, height] of Object.entries(minute))
      sums[name] = (sums[name] ?? 0) + height / 1500;
  }
  const {account} = data;
  const wanted = {
    busy: account.attributed + account.unresolved,
    masked: account.masked,
    idle: account.idle,
    lost: account.missed + account.dropped,
  };
  for (const [name, ticks] of Object.entries(wanted))
    assert(Math.abs(sums[name] - ticks / account.ticks) < 1e-9, name);
  await page.hover('#chart .minute >> nth=3');
  await page.has('#tip', /^2026-11-02 00:03 UTC, 108 guests .* busy/);
}

// The last builds have a row each, the others are counted.
async function buildsAreCounted(page) {
  assert.strictEqual(await page.locator('#chart .build').count(), 8);
  const texts = await page.locator('#chart text').allTextContents();
  assert.strictEqual(texts.at(-1), 'and 3 earlier builds');
}

// What was chosen is kept in the address.
async function aChoiceIsKept(page) {
  await page.selectOption('#service', 'web');
  await page.hit('#odd');
  await page.hit('#columns th:nth-child(10) button');
  await page.reload();
  await page.waitForSelector('body[data-ready]');
  await page.drawn();
  const shown = await rows(page);
  assert.strictEqual(shown.length, 2);
  assert.match(shown[0], /web-17 /);
  assert.strictEqual(await page.inputValue('#service'), 'web');
}

// Functions as `fleet top` has them; the timeline chooses minutes.
async function theFlameGraphIsTheService(page) {
  await page.has('#facts', /3,592,530 samples .* 600 s .* 100 guests/);
  const table = await page.texts('.row');
  const [first] = top.functions;
  const share = (100 * first.self_share).toFixed(1);
  assert(
    table.some((row) => row.includes(first.function) && row.includes(share)),
    `${first.function} ${share}: ${table}`,
  );
  // no gaps between minutes: each column of the timeline has a bar, and all
  // are as high, since all minutes are alike
  const [empty, uneven] = await page.evaluate(() => {
    const canvas = document.getElementById('timeline'),
      {width, height} = canvas;
    const {data: dots} = canvas
      .getContext('2d')
      .getImageData(0, 0, width, height);
    const at = (x, y) =>
      dots.slice(4 * (y * width + x), 4 * (y * width + x) + 3).join();
    const none = at(width >> 1, 1),
      y = Math.floor(height * 0.6);
    let count = 0;
    const tops = [];
    for (let x = 8; x < width - 8; ++x) {
      count += at(x, y) === none;
      let top = 1;
      while (top < y && at(x, top) === none) ++top;
      tops.push(top);
    }
    return [count, Math.max(...tops) - Math.min(...tops)];
  });
  assert.strictEqual(empty, 0);
  assert(uneven <= 2, `${uneven} pixels`);
  await page.pictured('flame');
}

async function theChangeIsShown(page) {
  await page.has('#facts', /before: 1,800,945 samples/);
  const table = await page.texts('.row');
  assert.match(table[0], /\+5\.\d+ json_parse/);
  await page.pictured('change');
}

// Both sizes and themes.
const PAGES = {
  fleet: 'guests.html',
  'fleet-service': 'mail.html',
  'fleet-flame': 'flame.html',
  'fleet-change': 'change.html',
};
const OPTIONS = {ellipsis: '.row .name, td, h1', ignore: '#scroll td, .hidden'};

async function looks() {
  for (const [name, where] of Object.entries(PAGES))
    await onPage(`${name} is seen whole`, where, (page) =>
      fitsEverywhere(page, name, () => page.drawn(), OPTIONS),
    );
  for (const [name, where] of Object.entries(PAGES))
    await test(`sheet "${name}" is as it was`, () =>
      sameSheet(`sheet-${name}`, where));
}

drive(async () => {
  await onPage('all guests are in the table', 'guests.html', allGuestsAreThere);
  await onPage('they are sorted', 'guests.html', theyAreSorted);
  await onPage('odd ones are marked', 'guests.html', oddOnesAreMarked);
  await onPage('they are filtered', 'guests.html', theyAreFiltered);
  await onPage('a service is chosen', 'guests.html', aServiceIsChosen);
  await onPage('the chart adds up', 'guests.html', theChartAddsUp);
  await onPage('a choice is kept', 'guests.html', aChoiceIsKept);
  await onPage('a page of one service', 'mail.html', async (page) => {
    assert.strictEqual((await rows(page)).length, 8);
    await page.has('#title', 'Guests: mail');
    assert(await page.locator('#not-stored').isHidden());
  });
  await onPage('builds that are too many', 'often.html', buildsAreCounted);
  await onPage('a flame graph', 'flame.html', theFlameGraphIsTheService);
  await onPage('of two builds', 'change.html', theChangeIsShown);
  await looks();
});
