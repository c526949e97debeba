// SPDX-License-Identifier: Apache-2.0
// timeline_shots.js: takes pictures of pages, which are lines of standard
// input: file of the page, hash of its view, file of the picture, height, and
// keys to press, with tabs in between.
'use strict';

const {readFileSync} = require('node:fs');
const path = require('node:path');
const {pathToFileURL} = require('node:url');
const {chromium} = require('playwright-core');

const WIDTH = 1280;
const PAINTED = 'body[data-painted]:not([data-painting])';

async function take(browser, [file, hash, picture, height, keys]) {
  const page = await browser.newPage({
    viewport: {width: WIDTH, height: Number(height)},
  });
  page.on('pageerror', (error) => {
    throw error;
  });
  await page.goto(pathToFileURL(path.resolve(file)).href + hash);
  await page.waitForSelector(PAINTED, {timeout: 0});
  for (const key of keys.split(' ').filter(Boolean)) {
    const before = await page.getAttribute('body', 'data-painted');
    await page.keyboard.press(key);
    await page.waitForFunction(
      (last) => document.body.dataset.painted !== last,
      before,
      {timeout: 0},
    );
    await page.waitForSelector(PAINTED, {timeout: 0});
  }
  if (hash.includes('p=late')) await page.waitForSelector('#panel[data-done]');
  await page.screenshot({path: picture, timeout: 0});
  await page.close();
}

async function main() {
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium-headless-shell',
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run'],
    timeout: 0,
  });
  const lines = readFileSync(0, 'utf8').split('\n').filter(Boolean);
  for (const line of lines) await take(browser, line.split('\t'));
  await browser.close();
}

main();
