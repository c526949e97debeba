// SPDX-License-Identifier: Apache-2.0
// What tasks_test.js does with keys, with the mouse; and what is drawn where
// the trace has a gap.
'use strict';

const path = require('node:path');
const {assert, onPage, work} = require('./browser.js');
const {timelineOf} = require('./timeline_model.js');

const fresh = (what, check) => onPage(what, 'tasks.html', check);

async function panels(page) {
  for (const [panel, shown] of [
    ['sites', '#sites tr'],
    ['late', '#late tr'],
    ['interrupts', '#vectors tr'],
    ['times', '#counts tr'],
    ['stacks', '#stacks-of'],
  ]) {
    await page.hit(`#tab-${panel}`);
    await page.locator(shown).first().waitFor();
    assert.strictEqual(await page.kept('p'), panel);
  }
  await page.hit('#tab-object');
  await page.has('#panel', 'Nothing is chosen');
}

async function times(page) {
  await page.hit('#zoom-in');
  const from = Number(await page.kept('a')),
    to = Number(await page.kept('b'));
  assert(to > from);
  await page.hit('#zoom-in');
  assert(Number(await page.kept('b')) < to);
  await page.hit('#zoom-out');
  await page.hit('#zoom-all');
  assert.strictEqual(await page.kept('a'), null);
}

async function toggles(page) {
  for (const [id, letter] of [
    ['simplify', 'i'],
    ['group', 'g'],
    ['counters', 'c'],
  ]) {
    const pressed = () => page.getAttribute('#' + id, 'aria-pressed');
    assert.strictEqual(await pressed(), 'true');
    await page.hit('#' + id);
    assert.strictEqual(await pressed(), 'false');
    assert.strictEqual(await page.kept(letter), '0');
  }
  await page.hit('#reset');
  assert.strictEqual(await page.kept('i'), null);
}

async function besides(page) {
  const theme = () => page.textContent('#theme'),
    before = await theme(); // other tests may have left one
  await page.hit('#theme');
  assert.notStrictEqual(await theme(), before);
  await page.hit('#help-open');
  assert(await page.isVisible('#help'));
  await page.keyboard.press('Escape');
  await page.click('#words');
  await page.keyboard.type('handler_3$');
  await page.has('#matched', /[1-9]/);
}

// How many colours a column of pixels has above the bottom, where no object is.
async function coloursAt(page, x) {
  const {height} = await page.box('#canvas'),
    places = Array.from({length: 20}, (_, i) => [x, height - 60 + i]),
    colours = await page.coloursOf('#canvas', places);
  return new Set(colours.map(String)).size;
}

async function gaps() {
  const {model} = await timelineOf(path.join(work, 'gap.html')),
    [losses] = model.losses,
    begin = losses.begin[0],
    room = losses.end[0] - begin;
  assert(room > 0);
  const where = `gap.html#a=${begin - room}&b=${begin + 2 * room}&c=0`;
  await onPage('a gap is hatched, nothing beside it', where, async (page) => {
    const {width} = await page.box('#canvas');
    const xOf = (time) => ((time - begin + room) / (3 * room)) * width;
    assert((await coloursAt(page, xOf(begin + room / 2))) > 1);
    assert.strictEqual(await coloursAt(page, xOf(begin - room / 8)), 1);
  });
}

module.exports = async () => {
  await fresh('panels are chosen by mouse', panels);
  await fresh('times are zoomed by mouse', times);
  await fresh('the picture is changed by mouse', toggles);
  await fresh('theme, help and search by mouse', besides);
  await gaps();
};
