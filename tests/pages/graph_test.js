// SPDX-License-Identifier: Apache-2.0
// The flame graph: each feature by mouse and by key.
'use strict';

const {readFileSync} = require('node:fs');
const {
  assert,
  closePage,
  colourAt,
  foldedOf,
  has,
  hashOf,
  onPage,
  openPage,
  press,
  readFolded,
  spotOf,
  untilDrawn,
} = require('./browser.js');

const MADE = 'made.trace';

// (check) gets a page as it is at first, roots above.
const fresh = (what, check, hash = '#i=1') =>
  onPage(what, 'made.html', check, {hash});

async function clickOn(page, ...wanted) {
  await page.mouse.click(...(await spotOf(page, MADE, ...wanted)));
  await untilDrawn(page);
}

async function zooms() {
  await fresh('a click zooms, one on a caller zooms out', async (page) => {
    await clickOn(page, 'main', 'work');
    await has(page, '#chosen', /^work Total 20\.5 %, 400 samples/);
    await has(page, '#path', /^all › main › work$/);
    assert.match(await hashOf(page), /z=\d+/);
    await clickOn(page, 'main');
    await has(page, '#path', /^all › main$/);
  });
  await fresh('the path leads back, and so do Reset and r', async (page) => {
    await clickOn(page, 'main', 'work');
    await page.click('#path button');
    await untilDrawn(page);
    await has(page, '#path', /^$/);
    await clickOn(page, 'main', 'work');
    await page.click('#reset');
    await untilDrawn(page);
    await has(page, '#path', /^$/);
    await clickOn(page, 'main', 'work');
    await press(page, 'r');
    assert.doesNotMatch(await hashOf(page), /z=/);
  });
  await fresh('keys walk and zoom', async (page) => {
    await press(page, 'g', 'ArrowDown', 'ArrowDown', 'ArrowDown');
    await has(page, '#chosen', /^work /);
    await press(page, 'ArrowRight');
    await has(page, '#chosen', /^port /);
    await press(page, 'ArrowLeft', 'Enter');
    await has(page, '#path', /work$/);
    await press(page, 'Backspace');
    await has(page, '#path', /^all › main$/);
    await press(page, 'Escape');
    await has(page, '#path', /^$/);
  });
  await fresh(
    'the Zoom button zooms to what was right-clicked',
    async (page) => {
      await page.mouse.click(...(await spotOf(page, MADE, 'main', 'port')), {
        button: 'right',
      });
      await untilDrawn(page);
      await has(page, '#path', /^$/);
      await page.click('#zoom');
      await untilDrawn(page);
      await has(page, '#path', /port$/);
    },
  );
  await fresh('a tap selects, and a second one zooms', async (page) => {
    const spot = await spotOf(page, MADE, 'main', 'port');
    await page.touchscreen.tap(...spot);
    await untilDrawn(page);
    await has(page, '#chosen', /^port /);
    await has(page, '#path', /^$/);
    await page.touchscreen.tap(...spot);
    await untilDrawn(page);
    await has(page, '#path', /port$/);
  });
}

async function tooltip() {
  await fresh('the tooltip has counts, shares, intervals', async (page) => {
    await page.mouse.move(...(await spotOf(page, MADE, 'main', 'port')));
    await untilDrawn(page);
    await has(page, '#tip', /^port Total 12\.3 %, 240 samples Self 12\.3 %/);
    await has(page, '#tip', /95 % interval 10\.9 % to 13\.8 %/);
    await has(page, '#tip', 'In hypervisor 83.3 % of it');
    await page.mouse.move(5, 5);
    await untilDrawn(page);
    assert(await page.locator('#tip').isHidden());
  });
  await fresh('what is chosen is said to a screen reader', async (page) => {
    await press(page, 'g', 'ArrowDown', 'ArrowDown');
    const said = await page.locator('#spoken').textContent();
    assert.match(said, /^main: Total 99\.7 %/);
  });
  await fresh('? and its button open the help, Esc closes it', async (page) => {
    await press(page, '?');
    await has(page, '#help', 'sandwich: callers and callees');
    await press(page, 'Escape');
    assert(await page.locator('#help').isHidden());
    await page.click('#help-open');
    assert(await page.locator('#help').isVisible());
  });
  await fresh('y and Copy put the name on the clipboard', async (page) => {
    const pasted = () => page.evaluate(() => navigator.clipboard.readText());
    await page.mouse.click(...(await spotOf(page, MADE, 'main', 'port')));
    await untilDrawn(page);
    await press(page, 'y');
    assert.strictEqual(await pasted(), 'port');
    await page.mouse.click(...(await spotOf(page, MADE, 'main')));
    await untilDrawn(page);
    await page.click('#copy');
    await untilDrawn(page);
    assert.strictEqual(await pasted(), 'main');
  });
}

async function removes() {
  await fresh(
    'x and Remove take a stack away, u and Restore bring it back',
    async (page) => {
      await press(page, 'g', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'x');
      await has(page, '#facts', /^1,555 samples/);
      await has(page, '#notes', '1 stack removed');
      await press(page, 'u');
      await has(page, '#facts', /^1,955 samples/);
      await page.mouse.click(...(await spotOf(page, MADE, 'main', 'port')), {
        button: 'right',
      });
      await untilDrawn(page);
      await page.click('#remove');
      await untilDrawn(page);
      await has(page, '#facts', /^1,715 samples/);
      await page.click('#restore');
      await untilDrawn(page);
      await has(page, '#facts', /^1,955 samples/);
    },
  );
}

async function sandwiches() {
  await fresh('v shows callers above and callees below', async (page) => {
    await clickOn(page, 'main', 'work');
    await press(page, 'v');
    await has(page, '#path', 'callers and callees of work');
    await press(page, 'g', 'ArrowDown');
    await has(page, '#chosen', /^helper Total 5\.12 %, 100 samples/);
    await press(page, 'ArrowUp', 'ArrowUp');
    await has(page, '#chosen', /^main Total 20\.5 %, 400 samples/);
    await press(page, 'Escape');
    assert.doesNotMatch(await hashOf(page), /v=/);
  });
  await fresh('the sandwich adds up all places of a function', async (page) => {
    await page.mouse.click(...(await spotOf(page, MADE, 'main', 'helper')), {
      button: 'right',
    });
    await untilDrawn(page);
    await page.click('#sandwich');
    await untilDrawn(page);
    await has(page, '#chosen', /^helper Total 14\.8 %, 290 samples/);
    await press(page, 'g', 'ArrowUp');
    await has(page, '#chosen', /^main Total 7\.67 %, 150 samples/);
    await press(page, 'ArrowRight');
    await has(page, '#chosen', /^work Total 5\.12 %, 100 samples/);
    await press(page, 'ArrowRight');
    await has(page, '#chosen', /^recurse Total 2\.05 %, 40 samples/);
  });
  await fresh('a recursive function is counted once', async (page) => {
    await clickOn(page, 'main', 'recurse');
    await press(page, 'v');
    await has(page, '#chosen', /^recurse Total 8\.18 %, 160 samples/);
  });
}

async function looks() {
  await fresh('flame and icicle, by button and by i', async (page) => {
    const frame = await page.locator('#graph').boundingBox();
    const top = [frame.x + 40, frame.y + 8];
    const painted = async () => (await colourAt(page, '#graph', top))[3] > 0;
    assert(await painted());
    await press(page, 'i');
    assert(!(await painted()));
    await page.click('#icicle');
    await untilDrawn(page);
    assert(await painted());
    await page.click('#flame');
    await untilDrawn(page);
    assert(!(await painted()));
  });
  await fresh('colours by folder, language and hypervisor', async (page) => {
    const spot = await spotOf(page, MADE, 'main', 'port');
    spot[1] += 8;
    const [r, , b] = await colourAt(page, '#graph', spot);
    assert(Math.abs(r - b) < 24, 'its folder is unknown: grey');
    await page.selectOption('#colour', 'exits');
    await untilDrawn(page);
    await has(page, '#legend', 'entirely in the hypervisor');
    const hot = await colourAt(page, '#graph', spot);
    assert(hot[0] > hot[2] + 60, `should be hot: ${hot}`);
    const guest = await spotOf(page, MADE, 'main', 'work');
    guest[1] += 8;
    const cold = await colourAt(page, '#graph', guest);
    assert(Math.abs(cold[0] - cold[2]) < 24, `should be grey: ${cold}`);
    await press(page, 'c');
    assert.strictEqual(await page.inputValue('#colour'), 'folder');
    await press(page, 'c');
    assert.strictEqual(await page.inputValue('#colour'), 'language');
  });
  await fresh('samples or time counts, by button and by m', async (page) => {
    await press(page, 'm', 'g', 'ArrowDown');
    await has(page, '#chosen', /Total 100\.0 %, 1\.96 s/);
    await page.click('#samples');
    await untilDrawn(page);
    await press(page, 'g', 'ArrowDown');
    await has(page, '#chosen', /Total 100\.0 %, 1,955 samples/);
  });
  const byTime = async (page) => {
    await press(page, 'g', 'ArrowDown');
    await has(page, '#chosen', /Total 100\.0 %, 1\.96 s/);
  };
  await onPage('time counts at first', 'clocks.html', byTime, {hash: '#i=1'});
}

async function themes() {
  await fresh('dark follows the system, and t chooses', async (page) => {
    const dark = () =>
      page.evaluate(() => {
        const pen = document.querySelector('#graph').getContext('2d');
        const {color} = getComputedStyle(document.body);
        pen.fillStyle = color;
        return Number.parseInt(pen.fillStyle.slice(1, 3), 16) > 128;
      });
    assert(!(await dark()));
    await page.emulateMedia({colorScheme: 'dark'});
    await untilDrawn(page);
    assert(await dark());
    await press(page, 't');
    assert(!(await dark()));
    await page.click('#theme');
    await untilDrawn(page);
    assert(await dark());
    await press(page, 't');
    await page.emulateMedia({colorScheme: 'light'});
    await untilDrawn(page);
    assert(!(await dark()));
  });
}

async function keeps() {
  await fresh('the hash holds the view', async (page) => {
    await clickOn(page, 'main', 'work');
    await press(page, '/', 'h', 'e', 'l', 'p');
    await untilDrawn(page, 300);
    await press(page, 'Tab', 'c', 'm', 'l', 'o');
    const hash = await hashOf(page),
      again = await openPage('made.html', hash);
    for (const part of ['#chosen', '#path', '#facts', '#matched', '#legend'])
      await has(
        again,
        part,
        (await page.locator(part).innerText()).replace(/\s+/g, ' '),
      );
    assert.strictEqual(await hashOf(again), hash);
    await closePage(again);
  });
  await fresh(
    'nonsense in the hash does no harm',
    async (page) => {
      await has(page, '#facts', /^1,955 samples/);
      await has(page, '#path', /^$/);
    },
    '#z=99999999&f=-7&v=x&r=9-1&x=5000000.a&c=no&o=%00&q=1',
  );
}

async function saves() {
  const saved = async (page, act) => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      act(),
    ]);
    return [download.suggestedFilename(), readFileSync(await download.path())];
  };
  await fresh('folded stacks are those of parasite export', async (page) => {
    const [name, bytes] = await saved(page, () => press(page, 'e'));
    assert.strictEqual(name, 'made.trace.folded');
    assert.deepStrictEqual(readFolded(String(bytes)), foldedOf(MADE));
    await page.click('#export summary');
    const [, again] = await saved(page, () => page.click('#folded'));
    assert(again.equals(bytes));
  });
  await fresh('a picture is saved', async (page) => {
    const [name, bytes] = await saved(page, () => press(page, 'p'));
    assert.strictEqual(name, 'made.trace.png');
    assert.strictEqual(bytes.subarray(1, 4).toString(), 'PNG');
    assert(bytes.readUInt32BE(16) > 800, 'as wide as what is seen');
    await page.click('#export summary');
    await saved(page, () => page.click('#png'));
  });
}

module.exports = async () => {
  await zooms();
  await tooltip();
  await removes();
  await sandwiches();
  await looks();
  await themes();
  await keeps();
  await saves();
};
