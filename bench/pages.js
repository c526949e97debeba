// SPDX-License-Identifier: Apache-2.0
// pages.js FOLDER SPEEDSCOPE: opens the pages that pages.sh made, and the same
// profiles in speedscope (its folder), each in a fresh Chromium and in turns.
// Prints lines of JSON: bytes, time until it is drawn and memory of its
// process, and speedscope's as multiples of these; the median, and the middle
// half.
'use strict';

const {
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} = require('node:fs');
const path = require('node:path');
const {chromium} = require('playwright-core');

const work = path.resolve(process.argv[2]);
const release = path.resolve(process.argv[3], 'dist/release');
const TURNS = 5;
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
];

// Proportional memory of the process that holds the page, in MB.
async function memoryOf(browser) {
  const session = await browser.newBrowserCDPSession();
  const {processInfo} = await session.send('SystemInfo.getProcessInfo');
  const pids = processInfo.filter(({type}) => type === 'renderer');
  const pss = pids.map(({id}) =>
    Number(
      readFileSync(`/proc/${id}/smaps_rollup`, 'utf8').match(/Pss: *(\d+)/)[1],
    ),
  );
  return Math.max(...pss) / 1000;
}

// Opens (url), waits until (ready), and returns what it took.
async function opened(url, ready) {
  const folder = mkdtempSync(path.join(work, 'chromium-'));
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: '/usr/bin/chromium',
    args: FLAGS,
    viewport: {width: 1400, height: 900},
  });
  const page = context.pages()[0];
  const began = process.hrtime.bigint();
  await page.goto(url, {timeout: 120000});
  await page.waitForFunction(ready, null, {timeout: 120000, polling: 'raf'});
  await page.evaluate(
    () =>
      new Promise((done) =>
        requestAnimationFrame(() => requestAnimationFrame(done)),
      ),
  );
  const ms = Number(process.hrtime.bigint() - began) / 1e6;
  const session = await context.newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const megabytes = await memoryOf(context.browser());
  await context.close();
  rmSync(folder, {recursive: true, force: true});
  return {ms, megabytes};
}

// What speedscope's own command does: the profile as a script beside the page.
function speedscopeUrl(name) {
  const script = path.join(work, name + '.js');
  const profile = readFileSync(path.join(work, name + '.folded'));
  writeFileSync(
    script,
    `speedscope.loadFileFromBase64("${name}", ` +
      `"${profile.toString('base64')}")`,
  );
  return `file://${release}/index.html#localProfilePath=${script}`;
}

// What has to be given to somebody who shall see it: one file, or a profile
// and the viewer's code.
function speedscopeBytes(name) {
  const code = readdirSync(release).filter((file) =>
    /^(speedscope-.*\.(js|css)|index\.html|.*\.woff2)$/.test(file),
  );
  return (
    statSync(path.join(work, name + '.js')).size +
    code
      .map((file) => statSync(path.join(release, file)).size)
      .reduce((sum, size) => sum + size, 0)
  );
}

// A line with the median of (values) and what their middle half lies between.
function emit(name, values, unit) {
  const sorted = [...values].sort((a, b) => a - b);
  const round = (value) => Number(value.toPrecision(4));
  console.log(
    JSON.stringify({
      width: 'host',
      name,
      value: round(sorted[sorted.length >> 1]),
      low: round(sorted[sorted.length >> 2]),
      high: round(sorted[sorted.length - 1 - (sorted.length >> 2)]),
      unit,
    }),
  );
}

function bytes(name, ours, theirs) {
  const line = (what, value, unit) =>
    console.log(
      JSON.stringify({
        width: 'host',
        name: `page_${name}_${what}`,
        value,
        unit,
      }),
    );
  line('bytes', ours, 'bytes');
  line('bytes_speedscope', Number((theirs / ours).toPrecision(4)), 'ratio');
}

async function compare(name) {
  const ours = [],
    theirs = [];
  const url = speedscopeUrl(name);
  for (let turn = 0; turn < TURNS; ++turn) {
    ours.push(
      await opened(
        `file://${work}/${name}.html`,
        () => document.body.dataset.ready,
      ),
    );
    theirs.push(
      await opened(
        url,
        () =>
          /speedscope/.test(document.title) &&
          document.title !== 'speedscope' &&
          document.querySelector('canvas'),
      ),
    );
  }
  bytes(
    name,
    statSync(path.join(work, name + '.html')).size,
    speedscopeBytes(name),
  );
  for (const what of ['ms', 'megabytes']) {
    emit(
      `page_${name}_${what}`,
      ours.map((run) => run[what]),
      what === 'ms' ? 'ms' : 'MB',
    );
    emit(
      `page_${name}_${what}_speedscope`,
      theirs.map((run, turn) => run[what] / ours[turn][what]),
      'ratio',
    );
  }
}

(async () => {
  for (const name of ['small', 'large']) await compare(name);
})();
