// SPDX-License-Identifier: Apache-2.0
// Rows and pixels of the timeline, against the same in C: the static picture of
// `timeline --svg`, on random traces that suite.py made. And packets between
// two traces.
'use strict';

const path = require('node:path');
const {test} = require('./tap.js');
const {assert, onPage, read, withPage, work} = require('./browser.js');
const {timelineOf} = require('./timeline_model.js');

// traces; FULL=1: all
const RANDOM =
  process.env.FULL === '1'
    ? [...Array(12).keys()].map((i) => i + 1)
    : [1, 4, 7, 10];
const CPUS = 4; // of several CPUs
const WIDTH = 1200, // of the static picture, and so on
  HEAD = 40,
  LINE_AT = 0.75,
  HEIGHT_MAX = 4000,
  PITCH = 22;
const PAGE_PITCH = 26,
  MARGIN_TOP = 34;

// Lines of objects in the static picture: [y, x, end] each, in order.
function linesOfSvg(name) {
  const text = read(name);
  return [...text.matchAll(/class="o" d="M([-\d.]+) ([\d.]+)H([\d.]+)"/g)]
    .map(([, x, y, end]) => [Number(y), Number(x), Number(end)])
    .sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
}

// The same from what the page's code says.
function linesOfPage({model, items}) {
  const pitch = Math.min(PITCH, HEIGHT_MAX / items.height);
  const round = (x) => Math.round(x * 10) / 10,
    xOf = (time) =>
      Math.max(-4, Math.min(WIDTH + 4, (time / model.lastTime) * WIDTH));
  return Array.from(items.rows, (row, i) => {
    const x = xOf(items.begin[i]),
      end = xOf(items.end[i]);
    return [
      round(HEAD + (row + LINE_AT) * pitch),
      round(x),
      round(Math.max(end, x + 1)),
    ];
  }).sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
}

// Up to a rounding of the last digit.
function same(found, wanted) {
  assert.strictEqual(found.length, wanted.length);
  for (const [i, line] of found.entries())
    for (const [j, place] of line.entries())
      assert(
        Math.abs(place - wanted[i][j]) < 0.15,
        `line ${i}: ${line}, wanted ${wanted[i]}`,
      );
}

const sameRows = async (name) =>
  same(
    linesOfPage(await timelineOf(path.join(work, `${name}.html`))),
    linesOfSvg(`${name}.svg`),
  );

// The colour of each place (x, y) of the canvas, as a text.
const coloursAt = async (page, places) =>
  (await page.coloursOf('#canvas', places)).map(String);

// Places on lines of objects and between rows: each line is there, and where
// none is, there is only ground.
async function looksAlike(page, {model, items}) {
  const {width} = await page.box('#canvas');
  const xOf = (time) => (time / model.lastTime) * width,
    yOf = (row) => MARGIN_TOP + (row + 0.5) * PAGE_PITCH;
  const lines = [],
    gaps = [];
  for (let i = 0; i < items.count; ++i) {
    const [x0, x1] = [xOf(items.begin[i]), xOf(items.end[i])];
    if (x1 - x0 < 8) continue;
    const x = (x0 + x1) / 2;
    lines.push([x, yOf(items.rows[i])]);
    gaps.push([x, yOf(items.rows[i]) + 8]);
  }
  assert(lines.length > 10, `${lines.length} lines are wide enough`);
  const ground = new Set(await coloursAt(page, gaps));
  assert(ground.size <= 8, [...ground].join(' '));
  const hit = (await coloursAt(page, lines)).filter(
    (colour) => !ground.has(colour),
  );
  assert(
    hit.length >= 0.97 * lines.length,
    `${hit.length} of ${lines.length} lines are there`,
  );
}

// Packets in the static picture of two traces: as many as the page has, each
// where its times are, from one trace to the other.
async function packetsOfSvg() {
  const {model} = await timelineOf(path.join(work, 'pair.html')),
    {arrows, head} = model,
    packet = 11, // ARROW.packet
    text = read('pair.svg');
  const found = [...text.matchAll(/class="k"[^>]*d="M([\d. L-]+)m/g)]
    .map(([, line]) => line.split(/[ L]/).map(Number))
    .sort((a, b) => a[0] - b[0]);
  const wanted = [...arrows.type.keys()]
    .filter((i) => arrows.type[i] === packet)
    .map((i) =>
      [arrows.begin[i], arrows.end[i]].map((t) => (t / model.lastTime) * WIDTH),
    )
    .sort((a, b) => a[0] - b[0]);
  assert(found.length > 10);
  assert.strictEqual(head.traces.length, 2);
  assert.strictEqual(found.length, wanted.length);
  for (const [i, [x0, y0, x1, y1]] of found.entries()) {
    assert(Math.abs(x0 - wanted[i][0]) < 0.2, `${x0}, not ${wanted[i][0]}`);
    assert(Math.abs(x1 - wanted[i][1]) < 0.2, `${x1}, not ${wanted[i][1]}`);
    assert(Math.abs(y1 - y0) > 2 * PITCH);
  }
}

async function packets() {
  const {model} = await timelineOf(path.join(work, 'pair.html')),
    packet = model.arrows.type.lastIndexOf(Math.max(...model.arrows.type));
  await onPage('clocks are aligned by packets', 'pair.html', async (page) => {
    await page.has('#notes', 'Clocks are aligned by packets');
    const title = await page.getAttribute('#notes [title]', 'title');
    assert.match(title, /server: to within [\d.]+ us, by \d\d packets/);
  });
  for (const end of ['from', 'to'])
    await onPage(
      `a packet is listed ${end} where it goes`,
      `pair.html#o=${model.arrows[end][packet]}`,
      (page) => page.has('#events', 'packet'),
    );
  const {begin, end} = model.arrows,
    where = `pair.html#a=${begin[packet] - 20}&b=${end[packet] + 20}`;
  await onPage('a packet is an arrow across both', where, async (page) => {
    const shown = await pictureOf(page);
    await page.locator('#arrows summary').click();
    await page.hit('#arrow-list label:has-text("packet")');
    assert.notStrictEqual(await pictureOf(page), shown);
  });
}

const pictureOf = (page) =>
  page.evaluate(() => document.getElementById('canvas').toDataURL());

module.exports = async () => {
  await packets();
  await test('packets are in the static picture of two', packetsOfSvg);
  await test('rows are those of the static picture', async () => {
    for (const i of RANDOM) await sameRows(`random-${i}`);
    for (let i = 1; i <= CPUS; ++i) await sameRows(`wild-${i}`);
  });
  await test('pixels are where the rows are', async () => {
    const timeline = await timelineOf(path.join(work, 'random-4.html')),
      height = Math.ceil(timeline.items.height * PAGE_PITCH) + 400;
    const where = `random-4.html#a=0&b=${timeline.model.lastTime}&g=0&c=0&w=`,
      options = {size: {width: 1400, height}};
    await withPage(where, options, (page) => looksAlike(page, timeline));
  });
};
