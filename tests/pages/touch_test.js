// SPDX-License-Identifier: Apache-2.0
// Two fingers on both pages: they zoom around what is between them, and move
// it. And the buttons and keys that zoom around the last click.
'use strict';

const {assert, onPage} = require('./browser.js');

const STEPS = 12; // of each movement

// Two fingers from places to places of the window, [x, y] each.
async function fingers(page, from, to) {
  const session = await page.context().newCDPSession(page);
  const touch = (type, places) =>
    session.send('Input.dispatchTouchEvent', {
      type,
      touchPoints: places.map(([x, y], id) => ({x, y, id})),
    });
  await touch('touchStart', from.slice(0, 1));
  await touch('touchStart', from);
  for (let i = 1; i <= STEPS; ++i)
    await touch(
      'touchMove',
      from.map((place, n) =>
        place.map((at, axis) => at + ((to[n][axis] - at) * i) / STEPS),
      ),
    );
  await touch('touchEnd', to.slice(0, 1));
  await touch('touchEnd', []);
  await session.detach();
  await page.drawn();
}

// Beside (x, y), (apart) pixels from each other.
const pair = (x, y, apart) => [
  [x - apart / 2, y],
  [x + apart / 2, y],
];

// ---- the timeline of tasks

const times = async (page) => {
  const [a, b] = [Number(await page.kept('a')), Number(await page.kept('b'))];
  return [a, b];
};

async function timeline() {
  await onPage('two fingers zoom around them', 'tasks.html', async (page) => {
    const {x, y, width} = await page.box('#canvas');
    await page.keys('w', 'w');
    const [a, b] = await times(page),
      part = 0.3,
      at = a + part * (b - a);
    await fingers(
      page,
      pair(x + part * width, y + 200, 80),
      pair(x + part * width, y + 200, 240),
    );
    const [c, d] = await times(page);
    assert(Math.abs((d - c) / (b - a) - 1 / 3) < 0.02, `${d - c} of ${b - a}`);
    assert(Math.abs(c + part * (d - c) - at) < 0.01 * (b - a));
    assert.strictEqual(await page.kept('o'), null, 'no object is chosen');
    await fingers(
      page,
      pair(x + part * width, y + 200, 240),
      pair(x + part * width, y + 200, 80),
    );
    const [e, f] = await times(page);
    assert(Math.abs((f - e) / (b - a) - 1) < 0.02);
  });
  await onPage('two fingers move in time', 'tasks.html', async (page) => {
    const {x, y, width} = await page.box('#canvas');
    await page.keys('w', 'w', 'w');
    const [a, b] = await times(page);
    await fingers(
      page,
      pair(x + 500, y + 200, 100),
      pair(x + 300, y + 200, 100),
    );
    const [c, d] = await times(page);
    assert(Math.abs(d - c - (b - a)) < 0.01 * (b - a), 'as much as before');
    const moved = ((c - a) / (b - a)) * width;
    assert(Math.abs(moved - 200) < 6, `${moved} pixels`);
  });
  await onPage('and over rows', 'many.html#g=0', async (page) => {
    const {x, y} = await page.box('#canvas');
    await fingers(page, pair(x + 500, y + 400, 90), pair(x + 500, y + 150, 90));
    assert(Number(await page.kept('f')) > 5, await page.hash());
  });
  await onPage('one finger moves after two', 'tasks.html', async (page) => {
    const {x, y} = await page.box('#canvas');
    await page.keys('w', 'w');
    await fingers(
      page,
      pair(x + 300, y + 200, 80),
      pair(x + 300, y + 200, 160),
    );
    const [a] = await times(page);
    await page.mouse.move(x + 400, y + 150);
    await page.mouse.down();
    await page.mouse.move(x + 250, y + 150, {steps: 4});
    await page.mouse.up();
    await page.drawn();
    assert((await times(page))[0] > a);
  });
  for (const [how, act] of [
    ['button', (page) => page.hit('#zoom-in')],
    ['key', (page) => page.keys('+')],
  ])
    await onPage(`by ${how} around the click`, 'tasks.html', async (page) => {
      const {x, y, width} = await page.box('#canvas');
      await page.keys('w');
      const [a, b] = await times(page),
        part = 0.8;
      await page.hit([x + part * width, y + 3]);
      await act(page);
      const [c, d] = await times(page);
      assert(Math.abs((d - c) / (b - a) - 0.7) < 0.01);
      const at = (from, to) => from + part * (to - from);
      assert(Math.abs(at(c, d) - at(a, b)) < 0.01 * (b - a));
      await page.hit('#zoom-out');
      const [e] = await times(page);
      assert(Math.abs(e - a) < 0.01 * (b - a));
    });
}

// ---- the flame graph

const fresh = (what, check) => onPage(what, 'made.html#i=1', check);

async function graph() {
  await fresh('spreading zooms to what is between', async (page) => {
    const [x, y] = await page.spotOf('main', 'work');
    await fingers(page, pair(x, y, 40), pair(x, y, 130));
    await page.has('#path', /^all › main › work$/);
    await fingers(page, pair(x, y, 200), pair(x, y, 40));
    await page.has('#path', /^$/);
  });
  await fresh('by steps towards a narrow frame', async (page) => {
    const [x, y] = await page.spotOf('main', 'work', 'helper');
    await fingers(page, pair(x, y, 40), pair(x, y, 64));
    await page.has('#path', /^all › main › work$/);
    await fingers(page, pair(x, y, 40), pair(x, y, 64));
    await page.has('#path', /^all › main › work$|helper$/);
  });
  await fresh('two fingers do not choose, one still does', async (page) => {
    const [x, y] = await page.spotOf('main', 'port');
    await fingers(page, pair(x, y, 40), pair(x + 3, y, 40));
    await page.has('#path', /^$/);
    await page.touchscreen.tap(x, y);
    await page.drawn();
    await page.has('#chosen', /^port /);
  });
  await onPage('two fingers scroll', 'deep.html#i=1', async (page) => {
    const top = () => page.$eval('#scroll', (one) => one.scrollTop);
    const {x, y} = await page.box('#graph');
    const before = await top();
    await fingers(page, pair(x + 300, y + 350, 60), pair(x + 300, y + 50, 60));
    assert(
      Math.abs((await top()) - before - 300) < 5,
      `${before} ${await top()}`,
    );
  });
  for (const [how, into, out] of [
    [
      'buttons',
      (page) => page.hit('#zoom-in'),
      (page) => page.hit('#zoom-out'),
    ],
    ['keys', (page) => page.keys('+'), (page) => page.keys('-')],
  ])
    await fresh(`${how} zoom by steps`, async (page) => {
      await page.hit(await page.spotOf('main', 'port'), {button: 'right'});
      await into(page);
      await page.has('#path', /port$/);
      assert.match(await page.hash(), /z=\d+/);
      await out(page); // as wide as all of it
      await page.has('#path', /^all › main$/);
      await page.hit(await page.spotOf('main'));
      await into(page);
      await page.has('#path', /^all › main › work$/);
    });
  await fresh('not in a sandwich', async (page) => {
    await page.hit(await page.spotOf('main', 'port'), {button: 'right'});
    await page.keys('v');
    assert(await page.isDisabled('#zoom-in'));
    await page.keys('+', '-');
    await page.has('#path', 'callers and callees of port');
  });
}

// The ends of what the bar of time shows, in seconds.
async function ends(page) {
  const {x, y, width} = await page.box('#timeline');
  const at = async (place) => {
    await page.mouse.move(5, 400);
    await page.mouse.move(x + place, y + 20);
    await page.drawn();
    const [, number, unit] = (await page.text('#tip')).match(/([\d.]+) (s|ms)/);
    return Number(number) / (unit === 's' ? 1 : 1000);
  };
  return [await at(0.1 * width), await at(0.9 * width)];
}

async function bar() {
  await fresh('two fingers zoom and move the time', async (page) => {
    const {x, y, width} = await page.box('#timeline');
    const [a, b] = await ends(page);
    const middle = x + width / 2;
    await fingers(page, pair(middle, y + 30, 100), pair(middle, y + 30, 200));
    const [c, d] = await ends(page);
    assert(Math.abs((d - c) / (b - a) - 0.5) < 0.03, `${d - c} of ${b - a}`);
    assert(Math.abs(c + d - a - b) < 0.03 * (b - a));
    assert.strictEqual(await page.kept('r'), null, 'no range is selected');
    await fingers(
      page,
      pair(middle, y + 30, 100),
      pair(middle - 200, y + 30, 100),
    );
    const [e] = await ends(page);
    assert(e > c);
  });
  await fresh('keys zoom the time around the click', async (page) => {
    const {x, y, width} = await page.box('#timeline');
    const [a, b] = await ends(page);
    await page.hit([x + 0.1 * width, y + 30]);
    await page.keys('w');
    const [c, d] = await ends(page);
    assert(Math.abs(c - a) < 0.01 * (b - a), `${c} and ${a}`);
    assert(Math.abs((d - c) / (b - a) - 0.7) < 0.03);
  });
}

module.exports = async () => {
  if (process.argv[3] === 'tasks') {
    await timeline();
    return;
  }
  await graph();
  await bar();
};
