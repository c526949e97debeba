// SPDX-License-Identifier: Apache-2.0
// Chromium without a window, and what tests of the page ask it.
'use strict';

const assert = require('node:assert');
const {execFileSync} = require('node:child_process');
const {mkdtempSync, readFileSync, rmSync} = require('node:fs');
const path = require('node:path');
const {chromium} = require('playwright-core');
const {test} = require('./tap.js');

const work = path.resolve(process.argv[2]);
const parasite = path.resolve(process.argv[4]);
const image = path.join(work, 'image');
const ROW = 21,
  PADDING = 6; // of the picture, see host/pages
const NEVER_MS = 600000; // how long an element is waited for, on any machine
const TURNS_MAX = 300; // of the page, with pauses, in which a text must come
const SIZE = {width: 1400, height: 900};
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

let context, profile;

async function start() {
  profile = mkdtempSync(path.join(work, 'chromium-'));
  context = await chromium.launchPersistentContext(profile, {
    executablePath: '/usr/bin/chromium',
    headless: true,
    timeout: NEVER_MS,
    args: FLAGS,
    viewport: SIZE,
    acceptDownloads: true,
    hasTouch: true,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  context.setDefaultTimeout(NEVER_MS);
}

async function stop() {
  await context.close();
  rmSync(profile, {recursive: true, force: true});
}

// Empty pages to be used again: a new one takes half as much time as all that
// most tests do.
const spares = [];

// A new page; whatever it loads beside itself, or reports as an error, is in
// page.problems.
async function makePage() {
  const page = await context.newPage();
  page.on('pageerror', (error) => page.problems.push(error.stack));
  page.on('console', (message) => {
    if (message.type() === 'error') page.problems.push(message.text());
  });
  page.on('request', (request) => {
    const allowed = request.isNavigationRequest()
      ? /^(file|about):/
      : /^(blob|data):/;
    if (!allowed.test(request.url())) page.problems.push(request.url());
  });
  return page;
}

// Opens FOLDER/(name) in a page without a past: its problems are those of this
// name. Animation frames have passed when it returns.
async function openPage(name, hash = '', options = {}) {
  const page = (!options.before && spares.pop()) || (await makePage());
  page.problems = [];
  page.isSpare = !options.before;
  await page.bringToFront(); // pages behind another are hardly drawn
  await page.setViewportSize(options.size || SIZE);
  await page.emulateMedia({colorScheme: options.scheme || 'light'});
  if (options.before) await options.before(page);
  await page.goto('file://' + path.resolve(work, name) + hash);
  if (!options.isStatic) await page.waitForSelector('body[data-ready]');
  await untilDrawn(page);
  return page;
}

// Ends what openPage() has begun; a page that (before) has changed is not used
// again.
async function closePage(page) {
  if (!page.isSpare) {
    await page.close();
    return;
  }
  await page.mouse.move(0, 0);
  await page.goto('about:blank');
  spares.push(page);
}

// Opens FOLDER/(name) at (hash) with openPage's (options), has (check) look at
// it once (whenOpen) has waited for it, and closes it. It must report no error.
async function withPage(name, check, options = {}) {
  const {hash = '', whenOpen = () => {}, ...more} = options;
  const page = await openPage(name, hash, more);
  try {
    await whenOpen(page);
    await check(page);
    assert.deepStrictEqual(page.problems, []);
  } finally {
    await closePage(page);
  }
}

// One test, of what withPage() opens.
const onPage = (what, ...words) => test(what, () => withPage(...words));

// An empty page of this size.
async function newPage(size) {
  const page = await context.newPage();
  await page.setViewportSize(size);
  return page;
}

// Waits until what was done has been drawn, and the hash written, or what else
// the page does within (ms). Its timers were set before this one and are
// shorter, so they have run, however late all of them are.
const untilDrawn = (page, ms = 260) =>
  page.evaluate(
    (pause) =>
      new Promise((done) =>
        requestAnimationFrame(() =>
          requestAnimationFrame(() => setTimeout(done, pause)),
        ),
      ),
    ms,
  );

// Waits for the picture of a timeline that was asked for last: on a busy
// machine it is made in many slices, and what is compared must not be the one
// before.
async function painted(page) {
  await untilDrawn(page);
  await page.waitForSelector('body[data-painted]:not([data-painting])');
  await untilDrawn(page);
}

// Waits until a search has found something, and that is drawn.
async function found(page) {
  await page.waitForSelector('#matched.found');
  await untilDrawn(page);
}

async function press(page, ...keys) {
  for (const key of keys) {
    await page.keyboard.press(key);
    await page.waitForTimeout(60);
  }
  await untilDrawn(page);
}

const text = (page, selector) => page.locator(selector).innerText();

// Waits until an element has a text, given as a part of it or a regular
// expression; fails if it never gets it. What a slow machine takes longer for,
// the turns of the page do too. (again) is done between two looks.
async function has(page, selector, wanted, again = () => {}) {
  let got;
  for (let turn = 0; turn < TURNS_MAX; turn++) {
    got = (await text(page, selector)).replace(/\s+/g, ' ');
    const fits =
      wanted instanceof RegExp ? wanted.test(got) : got.includes(wanted);
    if (fits) return;
    await untilDrawn(page, 20);
    await again();
  }
  assert.fail(`${selector} should have ${wanted}, is: ${got}`);
}

const hashOf = (page) => page.evaluate(() => location.hash);

// A part of the hash.
const kept = async (page, letter) =>
  new URLSearchParams((await hashOf(page)).slice(1)).get(letter);

// The texts of the rows that (selector) finds, in one line each.
const textsOf = (page, selector) =>
  page
    .locator(selector)
    .evaluateAll((rows) =>
      rows.map((row) => row.innerText.replace(/\s+/g, ' ').trim()),
    );

// The texts of the cells of each row of a table of functions that is in sight.
const cellsOf = (page) =>
  page.$$eval('.row', (rows) =>
    rows.map((row) =>
      [...row.querySelectorAll('span')].map((cell) => cell.textContent),
    ),
  );

// A file of the work folder as a text.
const read = (name) => readFileSync(path.join(work, name), 'utf8');

// What is written as 1,234.
const number = (words) => Number(words.replace(/,/g, ''));

function run(...words) {
  return execFileSync(parasite, words, {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

const reportOf = (trace, ...words) =>
  JSON.parse(
    run(
      'report',
      '-q',
      '--json',
      '-k',
      image,
      ...words,
      path.join(work, trace),
    ),
  );

// Stacks of a trace as [[frame, ...], weight], sorted, from parasite export.
// Those of a trace do not change.
const folded = new Map();

function foldedOf(trace) {
  if (!folded.has(trace)) {
    const form = ['-f', 'folded', '--weight', 'samples'];
    const words = [...form, '-k', image, path.join(work, trace)];
    folded.set(trace, readFolded(run('export', '-q', ...words)));
  }
  return folded.get(trace);
}

function readFolded(lines) {
  return lines
    .trim()
    .split('\n')
    .sort()
    .map((stack) => {
      const space = stack.lastIndexOf(' ');
      return [stack.slice(0, space).split(';'), Number(stack.slice(space + 1))];
    });
}

// Where the box of a path of functions is in an icicle of the whole trace,
// worked out from the folded stacks: [left, right) of 0 to 1, and its row.
function boxOf(stacks, wanted) {
  const order = (a, b) =>
    b[1] - a[1] || Buffer.compare(Buffer.from(a[0]), Buffer.from(b[0]));
  const all = stacks.reduce((sum, [, weight]) => sum + weight, 0);
  let left = 0,
    weight = all;
  wanted.forEach((name, depth) => {
    const siblings = new Map();
    for (const [frames, one] of stacks)
      if (
        wanted.slice(0, depth).every((frame, i) => frames[i] === frame) &&
        frames.length > depth
      )
        siblings.set(frames[depth], (siblings.get(frames[depth]) || 0) + one);
    for (const [sibling, one] of [...siblings].sort(order)) {
      weight = one;
      if (sibling === name) break;
      left += one;
    }
  });
  return {left: left / all, right: (left + weight) / all, row: wanted.length};
}

// The middle of that box in the window.
async function spotOf(page, trace, ...wanted) {
  const {left, right, row} = boxOf(foldedOf(trace), wanted);
  const frame = await page.locator('#graph').boundingBox();
  return [
    frame.x + PADDING + ((left + right) / 2) * (frame.width - 2 * PADDING),
    frame.y + PADDING + (row + 0.5) * ROW,
  ];
}

// The colour [r, g, b, a] of a canvas at a place of the window.
function colourAt(page, canvas, [x, y]) {
  return page.evaluate(
    ([id, left, top]) => {
      const element = document.querySelector(id);
      const frame = element.getBoundingClientRect();
      const scale = element.width / frame.width;
      return [
        ...element
          .getContext('2d')
          .getImageData(
            (left - frame.left) * scale,
            (top - frame.top) * scale,
            1,
            1,
          ).data,
      ];
    },
    [canvas, x, y],
  );
}

module.exports = {
  assert,
  boxOf,
  cellsOf,
  closePage,
  colourAt,
  foldedOf,
  found,
  has,
  hashOf,
  image,
  kept,
  newPage,
  number,
  onPage,
  openPage,
  painted,
  parasite,
  press,
  read,
  readFolded,
  reportOf,
  run,
  untilDrawn,
  spotOf,
  start,
  stop,
  text,
  textsOf,
  withPage,
  work,
};
