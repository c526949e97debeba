// SPDX-License-Identifier: Apache-2.0
// The timeline of tasks: what is in it is compared with what the maker of the
// stream says that it wrote (tests/tool/make_tasks.c).
'use strict';

const {test} = require('./tap.js');
const {
  assert,
  closePage,
  has,
  hashOf,
  kept,
  number,
  onPage,
  openPage,
  painted,
  press,
  read,
  text,
  untilDrawn,
} = require('./browser.js');

const made = JSON.parse(read('tasks.json'));
const other = JSON.parse(read('other.json'));

const fresh = (what, check, name = 'tasks.html', hash = '') =>
  onPage(what, name, check, {hash, whenOpen: painted});

const rows = async (page) =>
  Number(await page.locator('body').getAttribute('data-rows'));

// All of the canvas, as a number that changes if a pixel does.
const pixels = (page) =>
  page.evaluate(() => {
    const canvas = document.getElementById('canvas');
    const {data} = canvas
      .getContext('2d')
      .getImageData(0, 0, canvas.width, canvas.height);
    let sum = 0;
    for (const byte of data) sum = (sum * 31 + byte) >>> 0;
    return sum;
  });

// Does (act) and waits until the canvas is another one.
async function repaints(page, act) {
  const before = await pixels(page);
  await act();
  await painted(page);
  await page.waitForFunction(
    ([id, old]) => {
      const canvas = document.getElementById(id);
      const {data} = canvas
        .getContext('2d')
        .getImageData(0, 0, canvas.width, canvas.height);
      let sum = 0;
      for (const byte of data) sum = (sum * 31 + byte) >>> 0;
      return sum !== old;
    },
    ['canvas', before],
  );
}

// Clicks on the first object found on a walk over the canvas.
async function clickObject(page) {
  const frame = await page.locator('#canvas').boundingBox();
  for (let x = 60; x < frame.width; x += 37) {
    await page.mouse.move(frame.x + x, frame.y + 50);
    await untilDrawn(page, 30);
    if (await page.locator('#tip').isHidden()) continue;
    await page.mouse.click(frame.x + x, frame.y + 50);
    await untilDrawn(page);
    if (await kept(page, 'o')) return;
  }
  assert.fail('no object was hit');
}

async function choosing() {
  await fresh('events and objects are those that were made', async (page) => {
    const facts = await text(page, '#facts');
    assert.strictEqual(
      number(facts.match(/of ([\d,]+) objects/)[1]),
      made.objects,
    );
    assert(number(facts.match(/^([\d,]+) events/)[1]) >= made.events);
  });
  await fresh('a click chooses an object', async (page) => {
    await clickObject(page);
    const chosen = await kept(page, 'o');
    assert(Number(chosen) > 0);
    await has(page, '#panel', 'Its life');
    await has(page, '#panel', 'Critical path');
    assert.match(await text(page, '#panel h2'), /^\w+ \d+$/);
  });
  await fresh('arrow keys choose neighbours', async (page) => {
    await press(page, 'ArrowDown');
    const first = await kept(page, 'o');
    await press(page, 'ArrowRight');
    const second = await kept(page, 'o');
    assert(first && second && first !== second, `${first} ${second}`);
    await press(page, 'ArrowLeft');
    assert.strictEqual(await kept(page, 'o'), first);
    await press(page, 'ArrowDown');
    assert.notStrictEqual(await kept(page, 'o'), first);
    await press(page, 'Escape');
    assert.strictEqual(await kept(page, 'o'), null);
  });
  await fresh('links in the panel choose what they name', async (page) => {
    await press(page, 'ArrowDown');
    const first = await kept(page, 'o');
    await page.locator('#events .link').first().click();
    await untilDrawn(page);
    assert.notStrictEqual(await kept(page, 'o'), first);
  });
  await fresh('the address carries the view', async (page) => {
    await press(page, 'ArrowDown', 'z', 'b', '3');
    const hash = await hashOf(page);
    const panel = await page.locator('#tab-late').getAttribute('aria-selected');
    const again = await openPage('tasks.html', hash);
    await painted(again);
    assert.strictEqual(await hashOf(again), hash);
    assert.strictEqual(panel, 'true');
    assert.strictEqual(
      await again.locator('#tab-late').getAttribute('aria-selected'),
      'true',
    );
    assert.strictEqual(await rows(again), await rows(page));
    await closePage(again);
  });
}

async function moving() {
  await fresh('keys and wheel zoom and move in time', async (page) => {
    await repaints(page, () => press(page, 'w', 'w'));
    const [from, to] = [
      Number(await kept(page, 'a')),
      Number(await kept(page, 'b')),
    ];
    assert(to > from);
    await repaints(page, () => press(page, 'd'));
    assert(Number(await kept(page, 'a')) > from);
    const frame = await page.locator('#canvas').boundingBox();
    await page.mouse.move(frame.x + 200, frame.y + 100);
    await repaints(page, () => page.mouse.wheel(0, -600));
    const near = Number(await kept(page, 'b')) - Number(await kept(page, 'a'));
    assert(near < to - from, `${near} ${to - from}`);
    await repaints(page, () => press(page, '0'));
    assert.strictEqual(await kept(page, 'a'), null);
  });
  await fresh('dragging moves the picture', async (page) => {
    await press(page, 'w', 'w', 'w');
    const from = Number(await kept(page, 'a'));
    const frame = await page.locator('#canvas').boundingBox();
    await page.mouse.move(frame.x + 400, frame.y + 100);
    await page.mouse.down();
    await page.mouse.move(frame.x + 250, frame.y + 100, {steps: 4});
    await page.mouse.up();
    await painted(page);
    assert(Number(await kept(page, 'a')) > from);
  });
  await fresh('Shift and dragging select a time', async (page) => {
    const frame = await page.locator('#canvas').boundingBox();
    await page.keyboard.down('Shift');
    await page.mouse.move(frame.x + 300, frame.y + 100);
    await page.mouse.down();
    await page.mouse.move(frame.x + 500, frame.y + 100, {steps: 4});
    await page.mouse.up();
    await page.keyboard.up('Shift');
    await untilDrawn(page);
    const [from, to] = (await kept(page, 'r')).split('-').map(Number);
    assert(to > from);
    await press(page, '5');
    await has(page, '#panel', 'in the selected time');
    await press(page, 'Escape');
    assert.strictEqual(await kept(page, 'r'), null);
  });
}

async function filtering() {
  await fresh('a site alone, and without it', async (page) => {
    const all = await rows(page);
    await press(page, '2');
    const line = page.locator('#sites tr').nth(1);
    await line.locator('text=only').click();
    await painted(page);
    const alone = await rows(page);
    assert(alone < all, `${alone} of ${all} rows`);
    await page.locator('#filters button').click();
    await painted(page);
    assert.strictEqual(await rows(page), all);
    await press(page, 'ArrowDown', 'h');
    await painted(page);
    assert((await kept(page, 'x')).length > 0);
    await press(page, 'r');
    await painted(page);
    assert.strictEqual(await rows(page), all);
  });
  await fresh('objects by how they ended', async (page) => {
    await page.locator('#states summary').click();
    await page.locator('#state-list label:has-text("resolved")').click();
    await painted(page);
    assert.strictEqual((await kept(page, 'e')).includes('1'), false);
  });
  await fresh('search finds names', async (page) => {
    await press(page, '/');
    await page.keyboard.type('handler_3$');
    await page.waitForFunction(() =>
      /[1-9]/.test(document.getElementById('matched').textContent),
    );
    await page.keyboard.press('Enter');
    await untilDrawn(page);
    assert.match(await text(page, '#panel h2'), /^handler_3 /);
    await page.keyboard.press('Enter');
    await has(page, '#matched', '2 of');
  });
  await fresh(
    'many alike objects are a row that opens',
    async (page) => {
      const closed = await rows(page);
      await press(page, 'ArrowUp', 'ArrowUp');
      const frame = await page.locator('#canvas').boundingBox();
      for (let y = 40; y < frame.height && !(await kept(page, 'q')); y += 9) {
        await page.mouse.click(frame.x + 300, frame.y + y);
        await painted(page);
      }
      assert((await kept(page, 'q')) !== null, 'no group was opened');
      await has(page, '#filters', 'open: ');
      await page.locator('#filters button').click();
      await painted(page);
      assert.strictEqual(await rows(page), closed);
      await press(page, 'g');
      await painted(page);
      assert((await rows(page)) !== closed);
    },
    'many.html',
  );
}

// Rows of a table as lists of texts.
const table = (page, id) =>
  page.$$eval(`#${id} tr`, (lines) =>
    lines.map((line) => [...line.children].map((cell) => cell.textContent)),
  );

async function explaining() {
  await fresh('the parts of a life are all of it', async (page) => {
    await press(page, 'ArrowDown');
    const parts = (await table(page, 'split')).map((line) =>
      Number(line[2].replace(/[<% ]/g, '')),
    );
    const whole = parts.reduce((sum, part) => sum + part, 0);
    assert(Math.abs(whole - 100) < 0.5 + 0.01 * parts.length, `${whole} %`);
  });
  await fresh('sums by site', async (page) => {
    await press(page, '3');
    await page.waitForSelector('#panel[data-done]');
    const lines = (await table(page, 'late'))
      .slice(1)
      .filter((line) => line.length > 1); // the others are names of sites
    const objects = lines.reduce((sum, line) => sum + number(line[0]), 0);
    assert.strictEqual(objects, made.objects);
  });
  await fresh('the critical path is drawn and summed', async (page) => {
    await press(page, 'ArrowDown');
    await repaints(page, () => press(page, 'k'));
    await has(page, '#path-toggle', 'Hide it');
    assert((await table(page, 'path')).length > 0);
    await repaints(page, () => page.locator('#path-toggle').click());
    await has(page, '#path-toggle', 'Draw it');
  });
  await fresh('interrupts and what they led to', async (page) => {
    await press(page, '4');
    const lines = (await table(page, 'vectors')).slice(1);
    const count = lines.reduce((sum, line) => sum + number(line[1]), 0);
    assert.strictEqual(count, made.irqs);
  });
  await fresh('counts and response times', async (page) => {
    await page.locator('#tab-times').click();
    await page.waitForSelector('#panel[data-done]');
    const counts = new Map(
      (await table(page, 'counts')).map((line) => [line[0], number(line[1])]),
    );
    assert.strictEqual(counts.get('create'), made.objects);
    assert.strictEqual(counts.get('fail'), made.failed);
    assert.strictEqual(counts.get('run'), made.runs);
    assert(await page.locator('.chart rect').count());
    await page.locator('#until').selectOption('fail');
    await page.waitForSelector('#panel[data-done]');
    await has(page, '#panel', `Pairs ${made.failed.toLocaleString('en-US')}`);
  });
  await fresh('samples of the selection', async (page) => {
    await press(page, '6');
    const all = number((await text(page, '#stacks-of')).split(' ')[0]);
    assert(all > 0);
    assert((await page.locator('#icicle').boundingBox()).height > 16);
    await press(page, 'ArrowDown', 'x', '6');
    const some = number((await text(page, '#stacks-of')).split(' ')[0]);
    assert(some < all, `${some} of ${all} samples`);
  });
}

async function drawing() {
  await fresh('counters, arrows and simplification', async (page) => {
    await repaints(page, () => press(page, 'c'));
    await repaints(page, () => press(page, 'c'));
    await page.locator('#arrows summary').click();
    await repaints(page, () =>
      page.locator('#arrow-list label:has-text("wake")').click(),
    );
    assert.match(await text(page, '#legend'), /running.*ready.*waiting/s);
  });
  await fresh('both themes', async (page) => {
    await repaints(page, () => press(page, 't', 't'));
    assert.strictEqual(
      await page.evaluate(() => document.documentElement.dataset.theme),
      'dark',
    );
  });
  await fresh('the help names every key', async (page) => {
    await press(page, '?');
    assert((await page.locator('#help dt').count()) > 20);
    await press(page, 'Escape');
  });
  await fresh('a picture can be saved', async (page) => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.locator('#png').click(),
    ]);
    assert.strictEqual(download.suggestedFilename(), 'timeline.png');
  });
  await fresh(
    'what is missing is said and drawn',
    async (page) => {
      await has(page, '#notes', /gaps? in the trace/);
    },
    'gap.html',
  );
  await fresh(
    'two traces share the axis',
    async (page) => {
      const facts = await text(page, '#facts');
      assert.strictEqual(
        number(facts.match(/of ([\d,]+) objects/)[1]),
        made.objects + other.objects,
      );
      await press(page, 'ArrowDown');
      await has(page, '#panel', 'Trace');
    },
    'both.html',
  );
}

module.exports = async () => {
  await choosing();
  await moving();
  await filtering();
  await explaining();
  await drawing();
};
