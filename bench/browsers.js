// SPDX-License-Identifier: Apache-2.0
// Pages in fresh browsers: how long they take, and their memory; and lines of
// JSON about that.
'use strict';

const {mkdtempSync, readFileSync, rmSync, writeFileSync} = require('node:fs');
const path = require('node:path');
const {chromium} = require('playwright-core');

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

// Opens (url), waits until (ready), and returns what it took, and what (then),
// if given, makes of the page. (work) is a folder for the browser's files.
async function opened(work, url, ready, then = null) {
  const folder = mkdtempSync(path.join(work, 'chromium-'));
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: '/usr/bin/chromium-headless-shell',
    args: FLAGS,
    viewport: {width: 1400, height: 900},
  });
  const page = context.pages()[0];
  const began = process.hrtime.bigint();
  await page.goto(url, {timeout: 300000});
  await page.waitForFunction(ready, null, {timeout: 300000, polling: 'raf'});
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
  const result = then && (await then(page));
  await context.close();
  rmSync(folder, {recursive: true, force: true});
  return {ms, megabytes, result};
}

// What speedscope's own command does: the profile as a script beside the page.
// (release) is where its code is.
function speedscopeUrl(release, profile) {
  const script = profile + '.js';
  writeFileSync(
    script,
    `speedscope.loadFileFromBase64("${path.basename(profile)}", ` +
      `"${readFileSync(profile).toString('base64')}")`,
  );
  return `file://${release}/index.html#localProfilePath=${script}`;
}

const speedscopeIsDrawn = () =>
  /speedscope/.test(document.title) &&
  document.title !== 'speedscope' &&
  document.querySelector('canvas');

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

// One line with a figure that is the same each time.
function line(name, value, unit) {
  console.log(
    JSON.stringify({
      width: 'host',
      name,
      value: Number(value.toPrecision(4)),
      unit,
    }),
  );
}

module.exports = {emit, line, opened, speedscopeIsDrawn, speedscopeUrl};
