// SPDX-License-Identifier: Apache-2.0
// Chromium without a window, and what tests of the page ask it.
'use strict';

const assert = require('node:assert');
const {execFileSync} = require('node:child_process');
const {mkdtempSync, rmSync} = require('node:fs');
const path = require('node:path');
const {chromium} = require('playwright-core');

const work = path.resolve(process.argv[2]);
const parasite = path.resolve(process.argv[4]);
const image = path.join(work, 'image');
const ROW = 21,
  PADDING = 6; // of the picture, see host/pages
const NEVER_MS = 600000; // how long an element is waited for, on any machine
const TURNS_MAX = 300; // of the page, with pauses, in which a text must come
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
    viewport: {width: 1400, height: 900},
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

// Opens FOLDER/(name); whatever it asks the network for, or reports as an
// error, is in page.problems. Animation frames have passed when it returns.
async function openPage(name, hash = '', options = {}) {
  const page = await context.newPage();
  page.problems = [];
  page.on('pageerror', (error) => page.problems.push(error.stack));
  page.on('console', (message) => {
    if (message.type() === 'error') page.problems.push(message.text());
  });
  page.on('request', (request) => {
    if (!/^(file|blob|data):/.test(request.url()))
      page.problems.push(request.url());
  });
  if (options.size) await page.setViewportSize(options.size);
  await page.emulateMedia({colorScheme: options.scheme || 'light'});
  if (options.before) await options.before(page);
  await page.goto('file://' + path.resolve(work, name) + hash);
  if (!options.isStatic) await page.waitForSelector('body[data-ready]');
  await untilDrawn(page);
  return page;
}

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
function foldedOf(trace) {
  return readFolded(
    run(
      ...['export', '-q', '-f', 'folded', '--weight', 'samples'],
      ...['-k', image, path.join(work, trace)],
    ),
  );
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
  colourAt,
  foldedOf,
  found,
  has,
  hashOf,
  image,
  newPage,
  openPage,
  parasite,
  press,
  readFolded,
  reportOf,
  run,
  untilDrawn,
  spotOf,
  start,
  stop,
  text,
  work,
};
