// SPDX-License-Identifier: Apache-2.0
// Chromium without a window, and what tests of the page ask it.
'use strict';

const assert = require('node:assert');
const {execFileSync} = require('node:child_process');
const {mkdtempSync, readFileSync, rmSync} = require('node:fs');
const path = require('node:path');
const {chromium} = require('playwright-core');
const {plan, test} = require('./tap.js');

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
  // a page does not live long enough for what this compiles to pay off
  '--js-flags=--no-maglev',
];

let context, profile;

async function start() {
  profile = mkdtempSync(path.join(work, 'chromium-'));
  context = await chromium.launchPersistentContext(profile, {
    executablePath: '/usr/bin/chromium-headless-shell',
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

// Has (run) make tests in a browser of their own; TAP.
async function drive(run) {
  await start();
  await run();
  await context.close();
  rmSync(profile, {recursive: true, force: true});
  plan();
}

// Empty pages to be used again: a new one takes half as much time as all that
// most tests do.
const spares = [];

// What tests do with a page and ask it, as methods of it.
const METHODS = {
  // Waits until what was done has been drawn, and the hash written, or what
  // else the page does within (ms). Its timers were set before this one and are
  // shorter, so they have run, however late all of them are. The picture of a
  // timeline is made in many slices on a busy machine: what is compared must
  // not be the one before.
  //
  // All of it is one call, for each costs as much as drawing.
  async drawn(ms = 260) {
    await this.evaluate(async (pause) => {
      const frames = (after) =>
        new Promise((done) =>
          requestAnimationFrame(() =>
            requestAnimationFrame(() => setTimeout(done, after)),
          ),
        );
      await frames(pause);
      if (!document.getElementById('canvas')) return;
      while (!document.querySelector('body[data-painted]:not([data-painting])'))
        await frames(0);
      await frames(0);
    }, ms);
  },

  // Waits until the page has begun. Looking for it from inside costs less than
  // waitForSelector(), which a page that goes on to another one needs.
  ready() {
    return this.evaluate(
      () =>
        new Promise((done) => {
          const look = () => {
            if (document.body.dataset.ready) done();
            else setTimeout(look, 10);
          };
          look();
        }),
    );
  },

  // Waits until a search has found something, and that is drawn.
  async found() {
    await this.waitForSelector('#matched.found');
    await this.drawn();
  },

  async keys(...keys) {
    for (const key of keys) {
      await this.keyboard.press(key);
      await this.waitForTimeout(60);
    }
    await this.drawn();
  },

  // Clicks on what a selector finds, or at [x, y].
  async hit(where, options) {
    if (Array.isArray(where)) await this.mouse.click(...where, options);
    else await this.click(where, options);
    await this.drawn();
  },

  text(selector) {
    return this.locator(selector).innerText();
  },

  // The texts of what (selector) finds, in one line each.
  texts(selector) {
    return this.locator(selector).evaluateAll((rows) =>
      rows.map((row) => row.innerText.replace(/\s+/g, ' ').trim()),
    );
  },

  // Waits until an element has a text, given as a part of it or a regular
  // expression; fails if it never gets it. What a slow machine takes longer
  // for, the turns of the page do too. (again) is done between two looks.
  async has(selector, wanted, again = () => {}) {
    let got;
    for (let turn = 0; turn < TURNS_MAX; turn++) {
      got = (await this.text(selector)).replace(/\s+/g, ' ');
      const fits =
        wanted instanceof RegExp ? wanted.test(got) : got.includes(wanted);
      if (fits) return;
      await this.drawn(20);
      await again();
    }
    assert.fail(`${selector} should have ${wanted}, is: ${got}`);
  },

  // A picture FOLDER/(name).png, to be looked at by those who want to: it takes
  // as much CPU time as a test. With FULL=1 all are made.
  async pictured(name) {
    if (process.env.FULL === '1')
      await this.screenshot({path: path.join(work, `${name}.png`)});
  },

  // A session of Chromium's protocol, the same each time.
  async devTools() {
    if (!this.session) {
      this.session = await context.newCDPSession(this);
      await this.session.send('Page.enable'); // or scripts are not run
    }
    return this.session;
  },

  hash() {
    return this.evaluate(() => location.hash);
  },

  async goTo(hash) {
    await this.evaluate((to) => {
      location.hash = to;
    }, hash);
    await this.drawn();
  },

  // A part of the hash.
  async kept(letter) {
    return new URLSearchParams((await this.hash()).slice(1)).get(letter);
  },

  // What is saved by (act): its name and its bytes.
  async saved(act) {
    const [download] = await Promise.all([
      this.waitForEvent('download'),
      act(),
    ]);
    return [download.suggestedFilename(), readFileSync(await download.path())];
  },

  // The texts of the cells of each row of a table of functions that is in
  // sight.
  cells() {
    return this.$$eval('.row', (rows) =>
      rows.map((row) =>
        [...row.querySelectorAll('span')].map((cell) => cell.textContent),
      ),
    );
  },

  box(selector) {
    return this.locator(selector).boundingBox();
  },

  // The middle, in the window, of the box of a path of functions of made.trace.
  async spotOf(...wanted) {
    const {left, right, row} = boxOf(foldedOf('made.trace'), wanted);
    const frame = await this.box('#graph');
    return [
      frame.x + PADDING + ((left + right) / 2) * (frame.width - 2 * PADDING),
      frame.y + PADDING + (row + 0.5) * ROW,
    ];
  },

  // The colours [r, g, b, a] of a canvas at places [x, y] of it, in CSS pixels.
  coloursOf(canvas, places) {
    return this.evaluate(
      ([id, list]) => {
        const element = document.querySelector(id),
          pen = element.getContext('2d'),
          scale = element.width / element.clientWidth;
        return list.map(([x, y]) => [
          ...pen.getImageData(x * scale, y * scale, 1, 1).data,
        ]);
      },
      [canvas, places],
    );
  },

  // The colour at a place of the window.
  async colourAt(canvas, [x, y]) {
    const frame = await this.box(canvas);
    return (await this.coloursOf(canvas, [[x - frame.x, y - frame.y]]))[0];
  },
};

// A new page; whatever it loads beside itself, or reports as an error, is in
// page.problems.
//
// A search is given up after ten seconds, in which a busy host may not even
// have started the worker: never, unless a test installs a clock of its own.
async function makePage() {
  const page = Object.assign(await context.newPage(), METHODS);
  await page.addInitScript(() => {
    const {setTimeout} = window;
    window.setTimeout = (act, ...rest) =>
      act.name === 'giveUp' ? 0 : setTimeout(act, ...rest);
  });
  page.on('pageerror', (error) => page.problems.push(error.stack));
  page.on('console', (message) => {
    if (message.type() === 'error') page.problems.push(message.text());
  });
  page.on('request', (request) => {
    const allowed = request.isNavigationRequest()
      ? /^((file|about):|http:\/\/127\.0\.0\.1:)/
      : /^(blob|data):/;
    if (!allowed.test(request.url())) page.problems.push(request.url());
  });
  return page;
}

// Has the next document in the page run (act) first; closePage() takes it back,
// which playwright's addInitScript() cannot.
async function addScript(page, act, argument) {
  const session = await page.devTools();
  const {identifier} = await session.send(
    'Page.addScriptToEvaluateOnNewDocument',
    {source: `(${act})(${JSON.stringify(argument) ?? ''})`},
  );
  page.script = identifier;
}

// Opens FOLDER/NAME[#HASH], or http://127.0.0.1:PORT/, in a page without a
// past: its problems are those of this name. It has been drawn when it returns.
// (script), [function, argument], runs in it before all else, as does (before)
// with the page itself.
async function openPage(where, options = {}) {
  const page = (!options.before && spares.pop()) || (await makePage());
  page.problems = [];
  page.isSpare = !options.before;
  await page.bringToFront(); // pages behind another are hardly drawn
  await page.setViewportSize(options.size || SIZE);
  await page.emulateMedia({colorScheme: options.scheme || 'light'});
  if (options.before) await options.before(page);
  if (options.script) await addScript(page, ...options.script);
  const [name] = where.split('#', 1);
  const hash = where.slice(name.length);
  await page.goto(
    where.startsWith('http:')
      ? where
      : 'file://' + path.resolve(work, name) + hash,
  );
  if (!options.isStatic) await page.ready();
  await page.drawn();
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
  if (page.script) {
    const identifier = page.script;
    page.script = undefined;
    const session = await page.devTools();
    await session.send('Page.removeScriptToEvaluateOnNewDocument', {
      identifier,
    });
  }
  await page.goto('about:blank');
  spares.push(page);
}

// Opens a page, has (check) look at it, and closes it. It must report no error.
async function withPage(where, options, check) {
  const page = await openPage(where, options);
  try {
    await check(page);
    assert.deepStrictEqual(page.problems, []);
  } finally {
    await closePage(page);
  }
}

// One test, of the page at (where): openPage()'s first words, the last one is
// the check.
const onPage = (what, where, ...rest) => {
  const check = rest.pop();
  return test(what, () => withPage(where, rest[0], check));
};

// An empty page of this size.
async function newPage(size) {
  const page = await context.newPage();
  await page.setViewportSize(size);
  return page;
}

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

function reportOf(trace, ...words) {
  const form = ['-q', '--json', '-k', image];
  return JSON.parse(run('report', ...form, ...words, path.join(work, trace)));
}

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

module.exports = {
  SIZE,
  assert,
  closePage,
  drive,
  foldedOf,
  image,
  newPage,
  number,
  onPage,
  openPage,
  parasite,
  read,
  readFolded,
  reportOf,
  run,
  withPage,
  work,
};
