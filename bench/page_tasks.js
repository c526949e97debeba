// SPDX-License-Identifier: Apache-2.0
// page_tasks.js FOLDER EVENTS SPEEDSCOPE: the page of `parasite timeline` that
// pages.sh made, of so many events, in a fresh Chromium each time; and by turns
// as many events of calls in speedscope (its folder), for it cannot open tasks,
// nor such a trace as Chrome's format. Prints lines of JSON:
// time until the first picture, memory, the longest task while panning and
// zooming, bytes of code and bytes an event. Times are medians with the middle
// half; the longest task is the best turn of its slowest action, since a busy
// machine only adds.
'use strict';

const {readFileSync, statSync} = require('node:fs');
const path = require('node:path');
const {
  emit,
  line,
  opened,
  speedscopeIsDrawn,
  speedscopeUrl,
} = require('./browsers.js');

const work = path.resolve(process.argv[2]);
const events = Number(process.argv[3]);
const release = path.resolve(process.argv[4], 'dist/release');
const TURNS = 3;
const WAIT_MS = 900; // for a picture and what it blocks

const drawn = () => document.body.dataset.painted;

const wheel = (dx, dy) => async (page) => {
  const box = await page.locator('canvas').last().boundingBox();
  await page.mouse.move(box.x + 500, box.y + 300);
  for (let i = 0; i < 10; ++i) {
    await page.mouse.wheel(dx, dy);
    await page.waitForTimeout(30);
  }
};

async function drag(page) {
  const box = await page.locator('canvas').last().boundingBox();
  await page.mouse.move(box.x + 600, box.y + 300);
  await page.mouse.down();
  await page.mouse.move(box.x + 200, box.y + 200, {steps: 40});
  await page.mouse.up();
}

const key = (name) => async (page) => {
  for (let i = 0; i < 4; ++i) {
    await page.keyboard.press(name);
    await page.waitForTimeout(60);
  }
};

const actions = [
  ['zoom_in', wheel(0, -80)],
  ['drag', drag],
  ['pan', wheel(80, 0)],
  ['zoom_out', wheel(0, 80)],
  ['keys', key('+')],
  ['focus', key('ArrowDown')],
];

// The longest task of each action, ms; shorter ones than 50 are 0.
async function longest(page) {
  await page.evaluate(() => {
    window.tasks = [];
    new PerformanceObserver((list) => {
      for (const task of list.getEntries()) window.tasks.push(task.duration);
    }).observe({type: 'longtask'});
  });
  const found = [];
  for (const [, act] of actions) {
    await page.evaluate(() => {
      window.tasks.length = 0;
    });
    await act(page);
    await page.waitForTimeout(WAIT_MS);
    found.push(await page.evaluate(() => Math.max(0, ...window.tasks)));
  }
  return found;
}

function emitBytes() {
  const bytes = statSync(path.join(work, 'tasks.html')).size;
  const page = readFileSync(path.join(work, 'tasks.html'), 'latin1');
  const payload = /octet-stream">([^<]*)</.exec(page)[1].length;
  line('page_tasks_code', bytes - payload, 'bytes');
  line('page_tasks_event_bytes', payload / events, 'bytes');
}

// Of each action, in the best turn.
const bestOf = (runs) =>
  actions.map((_, i) => Math.min(...runs.map((run) => run.result[i])));

(async () => {
  const ours = [],
    theirs = [],
    url = speedscopeUrl(release, path.join(work, 'evented.json'));
  for (let turn = 0; turn < TURNS; ++turn) {
    ours.push(await opened(work, `file://${work}/tasks.html`, drawn, longest));
    theirs.push(await opened(work, url, speedscopeIsDrawn, longest));
  }
  emitBytes();
  for (const [what, unit] of [
    ['ms', 'ms'],
    ['megabytes', 'MB'],
  ]) {
    emit(
      `page_tasks_${what}`,
      ours.map((run) => run[what]),
      unit,
    );
    emit(
      `page_tasks_${what}_speedscope`,
      theirs.map((run, turn) => run[what] / ours[turn][what]),
      'ratio',
    );
  }
  const best = bestOf(ours);
  actions.forEach(([name], i) =>
    line(`page_tasks_block_${name}_ms`, best[i], 'ms'),
  );
  line('page_tasks_block_ms', Math.max(...best), 'ms');
  line('page_tasks_block_ms_speedscope', Math.max(...bestOf(theirs)), 'ms');
})();
