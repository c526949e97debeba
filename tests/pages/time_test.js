// SPDX-License-Identifier: Apache-2.0
// The time line, losses, and too few samples.
'use strict';

const {
  assert,
  closePage,
  onPage,
  openPage,
  reportOf,
  withPage,
} = require('./browser.js');

const fresh = (what, check) => onPage(what, 'made.html', check);

// Drags over the time line, from and to being parts of its width.
async function drag(page, from, to) {
  const frame = await page.box('#timeline');
  const y = frame.y + frame.height / 2;
  await page.mouse.move(frame.x + from * frame.width, y);
  await page.mouse.down();
  await page.mouse.move(frame.x + ((from + to) / 2) * frame.width, y);
  await page.mouse.move(frame.x + to * frame.width, y);
  await page.mouse.up();
  await page.drawn();
}

const samplesOf = async (page) =>
  Number((await page.text('#facts')).split(' ')[0].replace(/,/g, ''));

// The range in the hash, in clocks of 100 ns.
const rangeOf = async (page) =>
  (await page.hash())
    .match(/r=(\d+)-(\d+)/)
    .slice(1)
    .map(Number);

async function agreesWithReport(page) {
  const [from, to] = await rangeOf(page);
  const {samples, rows} = reportOf(
    'made.trace',
    `--time=${from / 1e7},${to / 1e7}`,
  );
  assert(
    Math.abs((await samplesOf(page)) - samples) <= 2,
    `${await samplesOf(page)} and ${samples}`,
  );
  // which of the hottest comes first a sample at the range's end may decide
  const most = Math.max(...rows.map(({self}) => self));
  const first = await page.text('.row .name >> nth=0');
  assert(
    rows.some(({self, symbol}) => self >= most - 2 && symbol === first),
    `${first} is not the hottest`,
  );
}

async function ranges() {
  await fresh('a dragged range is what graph and table show', async (page) => {
    await drag(page, 0.6, 0.9);
    await agreesWithReport(page);
    assert.strictEqual(await page.locator('.row:has-text("work")').count(), 0);
  });
  await fresh('its ends and its middle can be dragged', async (page) => {
    await drag(page, 0.3, 0.4);
    const [from, to] = await rangeOf(page);
    await drag(page, 0.4, 0.6);
    const wider = await rangeOf(page);
    assert.strictEqual(wider[0], from);
    assert(wider[1] > to);
    await drag(page, 0.5, 0.6);
    const moved = await rangeOf(page);
    assert(moved[0] > from);
    assert(Math.abs(moved[1] - moved[0] - (wider[1] - wider[0])) < 4);
    await agreesWithReport(page);
  });
  await fresh('a click beside it shows all again, so does 0', async (page) => {
    await drag(page, 0.3, 0.4);
    const {x, y, width} = await page.box('#timeline');
    await page.hit([x + 0.8 * width, y + 20]);
    assert.strictEqual(await samplesOf(page), 1955);
    await drag(page, 0.3, 0.4);
    await page.keys('0');
    assert.strictEqual(await samplesOf(page), 1955);
  });
  await fresh('keys make, move and resize a range', async (page) => {
    await page.keys(']');
    const first = await rangeOf(page);
    await page.keys(']');
    const moved = await rangeOf(page);
    assert(moved[0] > first[0] && moved[1] > first[1]);
    await page.keys('}');
    assert((await rangeOf(page))[1] > moved[1]);
    await page.keys('{', '[');
    assert.deepStrictEqual(await rangeOf(page), first);
    await agreesWithReport(page);
    await page.focus('#timeline');
    await page.keys('ArrowRight');
    assert.deepStrictEqual(await rangeOf(page), moved);
    await page.keys('Shift+ArrowRight');
    assert((await rangeOf(page))[1] > moved[1]);
    const said = await page.getAttribute('#timeline', 'aria-valuetext');
    assert.match(said, /ms to .*s$/);
  });
  await fresh('the wheel and w, a, s, d zoom and move it', zoomsTime);
}

// What is under the middle of the time line, as the tooltip has it.
async function timeAt(page, part) {
  const frame = await page.box('#timeline');
  await page.mouse.move(5, 400);
  await page.mouse.move(frame.x + part * frame.width, frame.y + 20);
  await page.drawn();
  const [, number, unit] = (await page.text('#tip')).match(/([\d.]+) (s|ms)/);
  return Number(number) / (unit === 's' ? 1 : 1000);
}

async function zoomsTime(page) {
  const spanOf = async () =>
    (await timeAt(page, 0.9)) - (await timeAt(page, 0.1));
  const all = await spanOf();
  await timeAt(page, 0.5);
  await page.mouse.wheel(0, -400);
  const near = await spanOf();
  assert(near < 0.6 * all, `${near} of ${all}`);
  await page.keys('w');
  assert((await spanOf()) < near);
  const before = await timeAt(page, 0.5);
  await page.keys('d');
  const right = await timeAt(page, 0.5);
  assert(right > before);
  await page.keys('a', 'a');
  assert((await timeAt(page, 0.5)) < right);
  await page.keys('s', 's', 's', 's', 's', 's');
  assert(Math.abs((await spanOf()) - all) < 0.01 * all);
}

// How many pixels of the time line have a colour for which (is) is true: at
// these offsets from a part of its width, and these heights.
async function count(page, part, offsets, heights, is) {
  const {width} = await page.box('#timeline'),
    places = offsets.flatMap((dx) =>
      heights.map((y) => [part * width + dx, y]),
    );
  const colours = await page.coloursOf('#timeline', places);
  return colours.filter(([r, g, b]) => is(r, g, b)).length;
}

const span = (from, to, step = 1) =>
  Array.from({length: (to - from) / step + 1}, (_, i) => from + step * i);

// Whether some of what is above a place of the time line has the colour found.
async function foundAt(page, part) {
  const isFound = (r, g, b) => r > g + 90 && b > g + 90;
  return (await count(page, part, [0], span(5, 59, 2), isFound)) > 0;
}

// What moved from range to range is what a fresh page says of the range.
async function sums() {
  await fresh('sums that followed the range are exact', async (page) => {
    const ranges = ['0-9000000', '4000000-12000000', '100-500', '9-19000000'];
    const shown = async (one) => [
      await one.text('#facts'),
      await one.text('#rows'),
    ];
    const known = new Map();
    for (const range of [...ranges, ...ranges.toReversed()])
      for (const removed of ['', '&x=2']) {
        const hash = `#r=${range}${removed}`;
        await page.goTo(hash);
        if (!known.has(hash))
          await withPage('made.html' + hash, {}, async (again) =>
            known.set(hash, await shown(again)),
          );
        assert.deepStrictEqual(await shown(page), known.get(hash));
      }
  });
}

async function findings() {
  await fresh('what is found is seen in the time line', async (page) => {
    assert(!(await foundAt(page, 0.3)));
    await page.fill('#regex', '^work');
    await page.found();
    assert(await foundAt(page, 0.3));
    assert(!(await foundAt(page, 0.8)));
    const again = await openPage('made.html' + (await page.hash()));
    await again.found();
    assert(await foundAt(again, 0.3), 'from the hash too');
    await closePage(again);
  });
}

async function losses() {
  await fresh('what is missing is said', async (page) => {
    await page.has('#notes', '7 ticks missed (0.36 %)');
    await page.has('#notes', '5 samples without a stack');
    await page.has('#legend', 'samples missing');
  });
  await fresh('and hatched where it is missing', async (page) => {
    const isRed = (r, g, b) => r > g + 60 && r > b + 60,
      redAt = (part) => count(page, part, span(-10, 10), [4], isRed);
    assert((await redAt(0.5)) > 2);
    assert.strictEqual(await redAt(0.25), 0);
    await timeAt(page, 0.5);
    await page.has('#tip', 'samples without a stack');
  });
  await onPage('few samples are warned of', 'few.html', async (page) => {
    await page.has(
      '#notes',
      /Only 200 samples: shares are accurate to ±6\.9 percentage points/,
    );
  });
  await fresh('a narrow range makes few samples of many', async (page) => {
    assert(!(await page.text('#notes')).includes('Only'));
    await drag(page, 0.3, 0.33);
    await page.has('#notes', /Only \d+ samples/);
  });
}

async function stolen() {
  await onPage('stolen time has its own colour', 'alone.html', async (page) => {
    await page.has('#notes', /90\.0 ms stolen \(4\.\d+ %\)/);
    await page.has('#legend', 'time stolen by the host');
    await timeAt(page, 0.48);
    await page.has('#tip', /Lost 90\.0 ms stolen/);
    const isViolet = (r, g, b) => b > r + 40 && b > g + 40,
      violetAt = (part) => count(page, part, span(-6, 6), [4], isViolet);
    assert((await violetAt(0.48)) > 2);
    assert.strictEqual(await violetAt(0.25), 0);
  });
}

module.exports = async () => {
  await ranges();
  await sums();
  await findings();
  await losses();
  await stolen();
};
