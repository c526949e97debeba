// SPDX-License-Identifier: Apache-2.0
// pages.js FOLDER SPEEDSCOPE: opens the pages that pages.sh made, and the same
// profiles in speedscope (its folder), each in a fresh Chromium and in turns.
// Prints a row for each: bytes, time until it is drawn, memory of its process.
'use strict';

const {mkdtempSync, readFileSync, readdirSync, rmSync, statSync,
  writeFileSync} = require('node:fs');
const path = require('node:path');
const {chromium} = require('playwright-core');

const work = path.resolve(process.argv[2]);
const release = path.resolve(process.argv[3], 'dist/release');
const TURNS = 5;
const FLAGS = ['--no-sandbox', '--disable-gpu', '--no-first-run',
  '--disable-background-networking', '--disable-component-update',
  '--disable-sync', '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader'];

// Proportional memory of the process that holds the page, in MB.
async function memoryOf(browser) {
  const session = await browser.newBrowserCDPSession();
  const {processInfo} = await session.send('SystemInfo.getProcessInfo');
  const pids = processInfo.filter(({type}) => type === 'renderer');
  const pss = pids.map(({id}) => Number(
    readFileSync(`/proc/${id}/smaps_rollup`, 'utf8').match(/Pss: *(\d+)/)[1]));
  return Math.max(...pss) / 1000;
}

// Opens (url), waits until (ready), and tells what it took.
async function opened(url, ready) {
  const folder = mkdtempSync(path.join(work, 'chromium-'));
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: '/usr/bin/chromium', args: FLAGS,
    viewport: {width: 1400, height: 900}});
  const page = context.pages()[0];
  const began = process.hrtime.bigint();
  await page.goto(url);
  await page.waitForFunction(ready, null, {timeout: 120000, polling: 'raf'});
  await page.evaluate(() => new Promise((done) =>
    requestAnimationFrame(() => requestAnimationFrame(done))));
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
  writeFileSync(script, `speedscope.loadFileFromBase64("${name}", ` +
    `"${profile.toString('base64')}")`);
  return `file://${release}/index.html#localProfilePath=${script}`;
}

// What has to be given to somebody who shall see it: one file, or a profile
// and the viewer's code.
function speedscopeBytes(name) {
  const code = readdirSync(release).filter((file) =>
    /^(speedscope-.*\.(js|css)|index\.html|.*\.woff2)$/.test(file));
  return statSync(path.join(work, name + '.js')).size +
    code.map((file) => statSync(path.join(release, file)).size)
      .reduce((sum, size) => sum + size, 0);
}

const middle = (numbers) => numbers.sort((a, b) => a - b)[numbers.length >> 1];

async function compare(name) {
  const ours = [], theirs = [];
  const url = speedscopeUrl(name);
  for (let turn = 0; turn < TURNS; ++turn) {
    ours.push(await opened(`file://${work}/${name}.html`,
      () => document.body.dataset.ready));
    theirs.push(await opened(url, () => /speedscope/.test(document.title) &&
      document.title !== 'speedscope' && document.querySelector('canvas')));
  }
  const row = (who, bytes, runs) => {
    const ms = middle(runs.map((run) => run.ms));
    const megabytes = middle(runs.map((run) => run.megabytes));
    console.log(`${(name + ', ' + who).padEnd(28)}` +
      `${(bytes / 1000).toFixed(0).padStart(10)} kB` +
      `${ms.toFixed(0).padStart(9)} ms${megabytes.toFixed(0).padStart(9)} MB`);
    return [bytes, ms, megabytes];
  };
  const us = row('this page', statSync(path.join(work, name + '.html')).size,
    ours);
  const them = row('speedscope', speedscopeBytes(name), theirs);
  console.log(`${(name + ', ratio').padEnd(28)}` + us.map((value, i) =>
    (value / them[i]).toFixed(2).padStart([13, 12, 12][i])).join(''));
}

(async () => {
  console.log(`${''.padEnd(28)}${'all bytes'.padStart(13)}` +
    `${'until drawn'.padStart(12)}${'memory'.padStart(12)}`);
  for (const name of ['small', 'large']) await compare(name);
})();
