// SPDX-License-Identifier: Apache-2.0
// The flame graph: each feature by mouse and by key.
'use strict';

const {
  assert,
  closePage,
  foldedOf,
  onPage,
  openPage,
  readFolded,
} = require('./browser.js');

const RIGHT = {button: 'right'};

// (check) gets a page as it is at first, roots above.
const fresh = (what, check) => onPage(what, 'made.html#i=1', check);

const clickOn = async (page, ...wanted) =>
  page.hit(await page.spotOf(...wanted));

async function zooms() {
  await fresh('a click zooms, one on a caller zooms out', async (page) => {
    await clickOn(page, 'main', 'work');
    await page.has('#chosen', /^work Total 20\.5 %, 400 samples/);
    await page.has('#path', /^all › main › work$/);
    assert.match(await page.hash(), /z=\d+/);
    await clickOn(page, 'main');
    await page.has('#path', /^all › main$/);
  });
  await fresh('the path leads back, and so do Reset and r', async (page) => {
    await clickOn(page, 'main', 'work');
    await page.hit('#path button');
    await page.has('#path', /^$/);
    await clickOn(page, 'main', 'work');
    await page.hit('#reset');
    await page.has('#path', /^$/);
    await clickOn(page, 'main', 'work');
    await page.keys('r');
    assert.doesNotMatch(await page.hash(), /z=/);
  });
  await fresh('keys walk and zoom', async (page) => {
    await page.keys('g', 'ArrowDown', 'ArrowDown', 'ArrowDown');
    await page.has('#chosen', /^work /);
    await page.keys('ArrowRight');
    await page.has('#chosen', /^port /);
    await page.keys('ArrowLeft', 'Enter');
    await page.has('#path', /work$/);
    await page.keys('Backspace');
    await page.has('#path', /^all › main$/);
    await page.keys('Escape');
    await page.has('#path', /^$/);
  });
  await fresh('Zoom zooms to what was right-clicked', async (page) => {
    await page.hit(await page.spotOf('main', 'port'), RIGHT);
    await page.has('#path', /^$/);
    await page.hit('#zoom');
    await page.has('#path', /port$/);
  });
  await fresh('a tap selects, and a second one zooms', async (page) => {
    const spot = await page.spotOf('main', 'port');
    await page.touchscreen.tap(...spot);
    await page.drawn();
    await page.has('#chosen', /^port /);
    await page.has('#path', /^$/);
    await page.touchscreen.tap(...spot);
    await page.drawn();
    await page.has('#path', /port$/);
  });
}

async function tooltip() {
  await fresh('the tooltip has counts, shares, intervals', async (page) => {
    await page.mouse.move(...(await page.spotOf('main', 'port')));
    await page.drawn();
    await page.has('#tip', /^port Total 12\.3 %, 240 samples Self 12\.3 %/);
    await page.has('#tip', /95 % interval 10\.9 % to 13\.8 %/);
    await page.has('#tip', 'In hypervisor 83.3 % of it');
    await page.mouse.move(5, 5);
    await page.drawn();
    assert(await page.isHidden('#tip'));
  });
  await fresh('what is chosen is said to a screen reader', async (page) => {
    await page.keys('g', 'ArrowDown', 'ArrowDown');
    const said = await page.locator('#spoken').textContent();
    assert.match(said, /^main: Total 99\.7 %/);
  });
  await fresh('? and its button open the help, Esc closes it', async (page) => {
    await page.keys('?');
    await page.has('#help', 'sandwich: callers and callees');
    await page.keys('Escape');
    assert(await page.isHidden('#help'));
    await page.click('#help-open');
    assert(await page.isVisible('#help'));
  });
  await fresh('y and Copy put the name on the clipboard', async (page) => {
    const pasted = () => page.evaluate(() => navigator.clipboard.readText());
    await page.hit(await page.spotOf('main', 'port'));
    await page.keys('y');
    assert.strictEqual(await pasted(), 'port');
    await page.hit(await page.spotOf('main'));
    await page.hit('#copy');
    assert.strictEqual(await pasted(), 'main');
  });
}

async function removes() {
  await fresh('x, Remove take away, u, Restore bring back', async (page) => {
    await page.keys('g', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'x');
    await page.has('#facts', /^1,555 samples/);
    await page.has('#notes', '1 stack removed');
    await page.keys('u');
    await page.has('#facts', /^1,955 samples/);
    await page.hit(await page.spotOf('main', 'port'), RIGHT);
    await page.hit('#remove');
    await page.has('#facts', /^1,715 samples/);
    await page.hit('#restore');
    await page.has('#facts', /^1,955 samples/);
  });
}

async function sandwiches() {
  await fresh('v shows callers above and callees below', async (page) => {
    await clickOn(page, 'main', 'work');
    await page.keys('v');
    await page.has('#path', 'callers and callees of work');
    await page.keys('g', 'ArrowDown');
    await page.has('#chosen', /^helper Total 5\.12 %, 100 samples/);
    await page.keys('ArrowUp', 'ArrowUp');
    await page.has('#chosen', /^main Total 20\.5 %, 400 samples/);
    await page.keys('Escape');
    assert.doesNotMatch(await page.hash(), /v=/);
  });
  await fresh('the sandwich adds up all places of a function', async (page) => {
    await page.hit(await page.spotOf('main', 'helper'), RIGHT);
    await page.hit('#sandwich');
    await page.has('#chosen', /^helper Total 14\.8 %, 290 samples/);
    await page.keys('g', 'ArrowUp');
    await page.has('#chosen', /^main Total 7\.67 %, 150 samples/);
    await page.keys('ArrowRight');
    await page.has('#chosen', /^work Total 5\.12 %, 100 samples/);
    await page.keys('ArrowRight');
    await page.has('#chosen', /^recurse Total 2\.05 %, 40 samples/);
  });
  await fresh('a recursive function is counted once', async (page) => {
    await clickOn(page, 'main', 'recurse');
    await page.keys('v');
    await page.has('#chosen', /^recurse Total 8\.18 %, 160 samples/);
  });
}

async function looks() {
  await fresh('flame and icicle, by button and by i', async (page) => {
    const frame = await page.box('#graph');
    const top = [frame.x + 40, frame.y + 8];
    const painted = async () => (await page.colourAt('#graph', top))[3] > 0;
    assert(await painted());
    await page.keys('i');
    assert(!(await painted()));
    await page.hit('#icicle');
    assert(await painted());
    await page.hit('#flame');
    assert(!(await painted()));
  });
  await fresh('colours by folder, language and hypervisor', async (page) => {
    const spot = await page.spotOf('main', 'port');
    spot[1] += 8;
    const [r, , b] = await page.colourAt('#graph', spot);
    assert(Math.abs(r - b) < 24, 'its folder is unknown: grey');
    await page.selectOption('#colour', 'exits');
    await page.drawn();
    await page.has('#legend', 'entirely in the hypervisor');
    const hot = await page.colourAt('#graph', spot);
    assert(hot[0] > hot[2] + 60, `should be hot: ${hot}`);
    const guest = await page.spotOf('main', 'work');
    guest[1] += 8;
    const cold = await page.colourAt('#graph', guest);
    assert(Math.abs(cold[0] - cold[2]) < 24, `should be grey: ${cold}`);
    await page.keys('c');
    assert.strictEqual(await page.inputValue('#colour'), 'folder');
    await page.keys('c');
    assert.strictEqual(await page.inputValue('#colour'), 'language');
  });
  await fresh('samples or time counts, by button and by m', async (page) => {
    await page.keys('m', 'g', 'ArrowDown');
    await page.has('#chosen', /Total 100\.0 %, 1\.96 s/);
    await page.hit('#samples');
    await page.keys('g', 'ArrowDown');
    await page.has('#chosen', /Total 100\.0 %, 1,955 samples/);
  });
  await onPage('time counts at first', 'clocks.html#i=1', async (page) => {
    await page.keys('g', 'ArrowDown');
    await page.has('#chosen', /Total 100\.0 %, 1\.96 s/);
  });
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
    await page.drawn();
    assert(await dark());
    await page.keys('t');
    assert(!(await dark()));
    await page.hit('#theme');
    assert(await dark());
    await page.keys('t');
    await page.emulateMedia({colorScheme: 'light'});
    await page.drawn();
    assert(!(await dark()));
  });
}

async function keeps() {
  await fresh('the hash holds the view', async (page) => {
    await clickOn(page, 'main', 'work');
    await page.keys('/', 'h', 'e', 'l', 'p');
    await page.found();
    await page.keys('Tab', 'c', 'm', 'l', 'o');
    const hash = await page.hash(),
      again = await openPage('made.html' + hash);
    for (const part of ['#chosen', '#path', '#facts', '#matched', '#legend'])
      await again.has(
        part,
        (await page.locator(part).innerText()).replace(/\s+/g, ' '),
      );
    assert.strictEqual(await again.hash(), hash);
    await closePage(again);
  });
  const nonsense = '#z=99999999&f=-7&v=x&r=9-1&x=5000000.a&c=no&o=%00&q=1';
  await onPage('nonsense', 'made.html' + nonsense, async (page) => {
    await page.has('#facts', /^1,955 samples/);
    await page.has('#path', /^$/);
  });
}

async function saves() {
  await fresh('folded stacks are those of parasite export', async (page) => {
    const [name, bytes] = await page.saved(() => page.keys('e'));
    assert.strictEqual(name, 'made.trace.folded');
    assert.deepStrictEqual(readFolded(String(bytes)), foldedOf('made.trace'));
    await page.click('#export summary');
    const [, again] = await page.saved(() => page.click('#folded'));
    assert(again.equals(bytes));
  });
  await fresh('a picture is saved', async (page) => {
    const [name, bytes] = await page.saved(() => page.keys('p'));
    assert.strictEqual(name, 'made.trace.png');
    assert.strictEqual(bytes.subarray(1, 4).toString(), 'PNG');
    assert(bytes.readUInt32BE(16) > 800, 'as wide as what is seen');
    await page.click('#export summary');
    await page.saved(() => page.click('#png'));
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
