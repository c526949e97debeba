// SPDX-License-Identifier: Apache-2.0
// page_block.js FOLDER: how long actions on the large page that pages.sh made
// block it: the longest task of each, the browser's own work included. Prints
// lines of JSON: for each action the median of some turns and the middle half;
// for the slowest action its best turn, since a busy machine only adds. The
// browser reports tasks from 50 ms on; 0 is anything shorter.
'use strict';

const {mkdtempSync, rmSync} = require('node:fs');
const path = require('node:path');
const {chromium} = require('playwright-core');

const work = path.resolve(process.argv[2]);
const TURNS = 4;
const FLAGS = ['--no-sandbox', '--disable-gpu', '--no-first-run'];

const watchTasks = () => {
  window.tasks = [];
  new PerformanceObserver((list) => {
    for (const task of list.getEntries()) window.tasks.push(task.duration);
  }).observe({type: 'longtask', buffered: true});
};

async function longest(page, act) {
  await page.evaluate(() => {
    window.tasks = [];
  });
  await act(page);
  await page.waitForTimeout(700);
  return page.evaluate(() => Math.max(0, ...window.tasks));
}

const press =
  (...keys) =>
  async (page) => {
    for (const key of keys) {
      await page.keyboard.press(key);
      await page.waitForTimeout(150);
    }
  };

async function dragTime(page) {
  const frame = await page.locator('#timeline').boundingBox();
  const y = frame.y + 30;
  await page.mouse.move(frame.x + 200, y);
  await page.mouse.down();
  await page.mouse.move(frame.x + 900, y, {steps: 40});
  await page.mouse.up();
}

async function typeRegex(page) {
  await page.keyboard.press('/');
  await page.keyboard.type('l.*a', {delay: 40});
  await page.waitForTimeout(400);
  await page.keyboard.press('Enter');
  await page.waitForTimeout(200);
  await page.keyboard.press('Escape');
}

async function clickAround(page) {
  const frame = await page.locator('#graph').boundingBox();
  await page.mouse.click(frame.x + 200, frame.y + frame.height - 60);
  await page.waitForTimeout(200);
  await page.mouse.move(frame.x + 100, frame.y + 200);
  await page.mouse.move(frame.x + 700, frame.y + 500, {steps: 30});
}

async function wheelTime(page) {
  const frame = await page.locator('#timeline').boundingBox();
  await page.mouse.move(frame.x + 400, frame.y + 30);
  for (let i = 0; i < 10; ++i) await page.mouse.wheel(0, -60);
}

const actions = [
  ['search', typeRegex],
  ['range', dragTime],
  ['all_time', press('0')],
  ['zoom', clickAround],
  ['sandwich', press('v', 'Escape')],
  ['zoom_time', wheelTime],
  ['colours', press('c', 'c', 'c')],
  ['sorting', press('o', 'o', 'o')],
  ['by_time', press('m', 'm')],
  ['icicle', press('i', 'i')],
  ['removing', press('r', 'g', 'ArrowUp', 'ArrowUp', 'x', 'u')],
];

// Median and middle half of (times), as the fields of a line.
function spread(times) {
  const sorted = [...times].sort((a, b) => a - b);
  return {
    value: Math.round(sorted[sorted.length >> 1]),
    low: Math.round(sorted[sorted.length >> 2]),
    high: Math.round(sorted[sorted.length - 1 - (sorted.length >> 2)]),
  };
}

const emit = (name, figures) =>
  console.log(JSON.stringify({width: 'host', name, ...figures, unit: 'ms'}));

async function measure(page) {
  const times = actions.map(() => []);
  for (let turn = 0; turn < TURNS; ++turn)
    for (const [i, [, act]] of actions.entries())
      times[i].push(await longest(page, act));
  actions.forEach(([name], i) =>
    emit(`page_block_${name}_ms`, spread(times[i])),
  );
  const best = times.map((ones) => Math.round(Math.min(...ones)));
  emit('page_block_ms', {value: Math.max(...best)});
}

(async () => {
  const folder = mkdtempSync(path.join(work, 'chromium-'));
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: '/usr/bin/chromium-headless-shell',
    args: FLAGS,
    viewport: {width: 1400, height: 900},
  });
  const page = context.pages()[0];
  await page.addInitScript(watchTasks);
  await page.goto(`file://${work}/large.html`);
  await page.waitForSelector('body[data-ready]', {timeout: 120000});
  await page.waitForTimeout(500);
  await measure(page);
  await context.close();
  rmSync(folder, {recursive: true, force: true});
})();
