// SPDX-License-Identifier: Apache-2.0
// What tasks_test.js does with keys, with the mouse; and what is drawn where
// the trace has a gap.
'use strict';

const path = require('node:path');
const {test} = require('./tap.js');
const {assert, has, kept, onPage, untilDrawn, work} = require('./browser.js');
const {timelineOf} = require('./timeline_model.js');

const fresh = (what, check, name = 'tasks.html', hash = '') =>
  onPage(what, name, check, {hash, whenOpen: drawn});

async function drawn(page) {
  await untilDrawn(page);
  await page.waitForSelector('#busy', {state: 'hidden'});
  await untilDrawn(page);
}

async function click(page, id) {
  await page.locator('#' + id).click();
  await drawn(page);
}

async function panels(page) {
  for (const [panel, shown] of [
    ['sites', '#sites tr'],
    ['late', '#late tr'],
    ['interrupts', '#vectors tr'],
    ['times', '#counts tr'],
    ['stacks', '#stacks-of'],
  ]) {
    await page.locator(`#tab-${panel}`).click();
    await page.locator(shown).first().waitFor();
    await untilDrawn(page);
    assert.strictEqual(await kept(page, 'p'), panel);
  }
  await click(page, 'tab-object');
  await has(page, '#panel', 'Nothing is chosen');
}

async function times(page) {
  await click(page, 'zoom-in');
  const near = [Number(await kept(page, 'a')), Number(await kept(page, 'b'))];
  assert(near[1] > near[0]);
  await click(page, 'zoom-in');
  assert(Number(await kept(page, 'b')) < near[1]);
  await click(page, 'zoom-out');
  await click(page, 'zoom-all');
  assert.strictEqual(await kept(page, 'a'), null);
}

async function toggles(page) {
  for (const [id, letter] of [
    ['simplify', 'i'],
    ['group', 'g'],
    ['counters', 'c'],
  ]) {
    const pressed = () => page.locator('#' + id).getAttribute('aria-pressed');
    assert.strictEqual(await pressed(), 'true');
    await click(page, id);
    assert.strictEqual(await pressed(), 'false');
    assert.strictEqual(await kept(page, letter), '0');
  }
  await click(page, 'reset');
  assert.strictEqual(await kept(page, 'i'), null);
}

async function besides(page) {
  const theme = () => page.locator('#theme').textContent(),
    before = await theme(); // other tests may have left one
  await click(page, 'theme');
  assert.notStrictEqual(await theme(), before);
  await click(page, 'help-open');
  assert(await page.locator('#help').isVisible());
  await page.keyboard.press('Escape');
  await page.locator('#words').click();
  await page.keyboard.type('handler_3$');
  await page.waitForFunction(() =>
    /[1-9]/.test(document.getElementById('matched').textContent),
  );
}

// The colours of a column of pixels above the bottom, where no object is.
const coloursOf = (page, x) =>
  page.evaluate((at) => {
    const canvas = document.getElementById('canvas'),
      scale = canvas.width / canvas.clientWidth;
    const {data} = canvas
      .getContext('2d')
      .getImageData(Math.round(at * scale), canvas.height - 60, 1, 20);
    const colours = new Set();
    for (let i = 0; i < data.length; i += 4)
      colours.add(data.slice(i, i + 3).join());
    return colours.size;
  }, x);

async function gaps() {
  const {model} = await timelineOf(path.join(work, 'gap.html')),
    [losses] = model.losses,
    begin = losses.begin[0],
    room = losses.end[0] - begin;
  assert(room > 0);
  await fresh(
    'a gap is hatched, and nothing beside it',
    async (page) => {
      const width = await page.evaluate(
        () => document.getElementById('canvas').clientWidth,
      );
      const xOf = (time) => ((time - begin + room) / (3 * room)) * width;
      assert((await coloursOf(page, xOf(begin + room / 2))) > 1);
      assert.strictEqual(await coloursOf(page, xOf(begin - room / 8)), 1);
    },
    'gap.html',
    `#a=${begin - room}&b=${begin + 2 * room}&c=0`,
  );
}

module.exports = async () => {
  await fresh('panels are chosen by mouse', panels);
  await fresh('times are zoomed by mouse', times);
  await fresh('the picture is changed by mouse', toggles);
  await fresh('theme, help and search by mouse', besides);
  await gaps();
};
