// SPDX-License-Identifier: Apache-2.0
// The time line, losses, and too few samples.
'use strict';

const {
  assert,
  closePage,
  colourAt,
  found,
  has,
  hashOf,
  onPage,
  openPage,
  press,
  reportOf,
  text,
  untilDrawn,
  withPage,
} = require('./browser.js');

const fresh = (what, check, name = 'made.html') => onPage(what, name, check);

// Drags over the time line, from and to being parts of its width.
async function drag(page, from, to) {
  const frame = await page.locator('#timeline').boundingBox();
  const y = frame.y + frame.height / 2;
  await page.mouse.move(frame.x + from * frame.width, y);
  await page.mouse.down();
  await page.mouse.move(frame.x + ((from + to) / 2) * frame.width, y);
  await page.mouse.move(frame.x + to * frame.width, y);
  await page.mouse.up();
  await untilDrawn(page);
}

const samplesOf = async (page) =>
  Number((await text(page, '#facts')).split(' ')[0].replace(/,/g, ''));

// The range in the hash, in clocks of 100 ns.
const rangeOf = async (page) =>
  (await hashOf(page))
    .match(/r=(\d+)-(\d+)/)
    .slice(1)
    .map(Number);

async function agreesWithReport(page) {
  const [from, to] = await rangeOf(page);
  const {samples, rows} = reportOf(
    'made.trace',
    '--time',
    `${from / 1e7},${to / 1e7}`,
  );
  assert(
    Math.abs((await samplesOf(page)) - samples) <= 2,
    `${await samplesOf(page)} and ${samples}`,
  );
  // which of the hottest comes first a sample at the range's end may decide
  const most = Math.max(...rows.map(({self}) => self));
  const first = await text(page, '.row .name >> nth=0');
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
    const frame = await page.locator('#timeline').boundingBox();
    await page.mouse.click(frame.x + 0.8 * frame.width, frame.y + 20);
    await untilDrawn(page);
    assert.strictEqual(await samplesOf(page), 1955);
    await drag(page, 0.3, 0.4);
    await press(page, '0');
    assert.strictEqual(await samplesOf(page), 1955);
  });
  await fresh('keys make, move and resize a range', async (page) => {
    await press(page, ']');
    const first = await rangeOf(page);
    await press(page, ']');
    const moved = await rangeOf(page);
    assert(moved[0] > first[0] && moved[1] > first[1]);
    await press(page, '}');
    assert((await rangeOf(page))[1] > moved[1]);
    await press(page, '{', '[');
    assert.deepStrictEqual(await rangeOf(page), first);
    await agreesWithReport(page);
    await page.focus('#timeline');
    await press(page, 'ArrowRight');
    assert.deepStrictEqual(await rangeOf(page), moved);
    await press(page, 'Shift+ArrowRight');
    assert((await rangeOf(page))[1] > moved[1]);
    const said = await page.getAttribute('#timeline', 'aria-valuetext');
    assert.match(said, /ms to .*s$/);
  });
  await fresh('the wheel and w, a, s, d zoom and move it', zoomsTime);
}

// What is under the middle of the time line, as the tooltip has it.
async function timeAt(page, part) {
  const frame = await page.locator('#timeline').boundingBox();
  await page.mouse.move(5, 400);
  await page.mouse.move(frame.x + part * frame.width, frame.y + 20);
  await untilDrawn(page);
  const [, number, unit] = (await text(page, '#tip')).match(/([\d.]+) (s|ms)/);
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
  await press(page, 'w');
  assert((await spanOf()) < near);
  const before = await timeAt(page, 0.5);
  await press(page, 'd');
  const right = await timeAt(page, 0.5);
  assert(right > before);
  await press(page, 'a', 'a');
  assert((await timeAt(page, 0.5)) < right);
  await press(page, 's', 's', 's', 's', 's', 's');
  assert(Math.abs((await spanOf()) - all) < 0.01 * all);
}

// Whether some of what is above a place of the time line has the colour found.
async function foundAt(page, part) {
  const frame = await page.locator('#timeline').boundingBox();
  for (let y = 5; y < 60; y += 2) {
    const [r, g, b] = await colourAt(page, '#timeline', [
      frame.x + part * frame.width,
      frame.y + y,
    ]);
    if (r > g + 90 && b > g + 90) return true;
  }
  return false;
}

// What moved from range to range is what a fresh page says of the range.
async function sums() {
  await fresh('sums that followed the range are exact', async (page) => {
    const ranges = ['0-9000000', '4000000-12000000', '100-500', '9-19000000'];
    const shown = async (one) => [
      await text(one, '#facts'),
      await text(one, '#rows'),
    ];
    const fresh = new Map();
    for (const range of [...ranges, ...ranges.toReversed()])
      for (const removed of ['', '&x=2']) {
        const hash = `#r=${range}${removed}`;
        await page.evaluate((to) => {
          location.hash = to;
        }, hash);
        await untilDrawn(page);
        if (!fresh.has(hash))
          await withPage(
            'made.html',
            async (again) => fresh.set(hash, await shown(again)),
            {hash},
          );
        assert.deepStrictEqual(await shown(page), fresh.get(hash));
      }
  });
}

async function findings() {
  await fresh('what is found is seen in the time line', async (page) => {
    assert(!(await foundAt(page, 0.3)));
    await page.fill('#regex', '^work');
    await found(page);
    assert(await foundAt(page, 0.3));
    assert(!(await foundAt(page, 0.8)));
    const again = await openPage('made.html', await hashOf(page));
    await found(again);
    assert(await foundAt(again, 0.3), 'from the hash too');
    await closePage(again);
  });
}

async function losses() {
  await fresh('what is missing is said', async (page) => {
    await has(page, '#notes', '7 ticks missed (0.36 %)');
    await has(page, '#notes', '5 samples without a stack');
    await has(page, '#legend', 'samples missing');
  });
  await fresh('and hatched where it is missing', async (page) => {
    const frame = await page.locator('#timeline').boundingBox();
    const redAt = async (part) => {
      let red = 0;
      for (let dx = -10; dx <= 10; ++dx) {
        const [r, g, b] = await colourAt(page, '#timeline', [
          frame.x + part * frame.width + dx,
          frame.y + 4,
        ]);
        red += r > g + 60 && r > b + 60;
      }
      return red;
    };
    assert((await redAt(0.5)) > 2);
    assert.strictEqual(await redAt(0.25), 0);
    await timeAt(page, 0.5);
    await has(page, '#tip', 'samples without a stack');
  });
  await fresh(
    'few samples are warned of, many are not',
    async (page) => {
      await has(
        page,
        '#notes',
        /Only 200 samples: shares are accurate to ±6\.9 percentage points/,
      );
    },
    'few.html',
  );
  await fresh(
    'a narrow range makes few samples of many',
    async (page) => {
      assert(!(await text(page, '#notes')).includes('Only'));
      await drag(page, 0.3, 0.33);
      await has(page, '#notes', /Only \d+ samples/);
    },
    'made.html',
  );
}

async function stolen() {
  await fresh(
    'stolen time is said, and hatched in its own colour',
    async (page) => {
      await has(page, '#notes', /90\.0 ms stolen \(4\.\d+ %\)/);
      await has(page, '#legend', 'time stolen by the host');
      await timeAt(page, 0.48);
      await has(page, '#tip', /Lost 90\.0 ms stolen/);
      const {x, y, width} = await page.locator('#timeline').boundingBox();
      const violetAt = async (part) => {
        let violet = 0;
        for (let dx = -6; dx <= 6; ++dx) {
          const [r, g, b] = await colourAt(page, '#timeline', [
            x + part * width + dx,
            y + 4,
          ]);
          violet += b > r + 40 && b > g + 40;
        }
        return violet;
      };
      assert((await violetAt(0.48)) > 2);
      assert.strictEqual(await violetAt(0.25), 0);
    },
    'alone.html',
  );
}

module.exports = async () => {
  await ranges();
  await sums();
  await findings();
  await losses();
  await stolen();
};
