// SPDX-License-Identifier: Apache-2.0
// How much work a page does, in executions of its code's blocks, which V8
// counts exactly: a loop's body counts once for each turn. Nothing here depends
// on how fast the machine is.
'use strict';

const {assert} = require('./browser.js');

// Before the page is loaded: code compiled earlier has no counters.
async function countEffort(page) {
  page.counters = await page.context().newCDPSession(page);
  await page.counters.send('Profiler.enable');
  await page.counters.send('Profiler.startPreciseCoverage', {
    callCount: true,
    detailed: true,
  });
}

// What was executed since it was asked last:
//   calls  of each function, by its name
//   most   executions of the block that ran most often, and where it is
//   total  executions of all blocks
async function takeEffort(page) {
  const {result} = await page.counters.send('Profiler.takePreciseCoverage');
  const effort = {calls: new Map(), most: 0, where: '', total: 0};
  const [own] = page.url().split('#');
  for (const {functions} of result.filter(({url}) => url.split('#')[0] === own))
    for (const {functionName, ranges} of functions) {
      const known = effort.calls.get(functionName) || 0;
      effort.calls.set(functionName, known + ranges[0].count);
      for (const {count} of ranges) {
        effort.total += count;
        if (count <= effort.most) continue;
        effort.most = count;
        effort.where = functionName;
      }
    }
  return effort;
}

// The effort of what (act) does to the page.
async function effortOf(page, act) {
  await page.drawn();
  await takeEffort(page);
  await act(page);
  await page.drawn();
  return takeEffort(page);
}

// The effort of each slice of the work that (act) begins (inSlices() of
// slices.js). A slice lasts until the work can be interrupted: the page's
// clock leaps, and slices are held back until they are called one by one.
async function slicesOf(page, act) {
  await page.drawn();
  await takeEffort(page);
  await page.evaluate(() => {
    const {setTimeout} = window,
      clock = performance.now,
      now = performance.now();
    let leaps = 0;
    window.held = [];
    performance.now = () => now + 1000 * ++leaps;
    window.setTimeout = (act, ...rest) =>
      act.name === 'step' ? window.held.push(act) : setTimeout(act, ...rest);
    window.letGo = () => {
      window.setTimeout = setTimeout;
      performance.now = clock;
    };
  });
  await act(page);
  const efforts = [];
  do efforts.push(await takeEffort(page));
  while (
    await page.evaluate(() => {
      const next = window.held.shift();
      if (next) next();
      else window.letGo();
      return Boolean(next);
    })
  );
  return efforts;
}

// Fails unless no block ran more often than (most), all of them together not
// more often than (total), and each function of (calls) as often as it says: a
// number, or [at least, at most].
function within(effort, {most, total, calls = {}}) {
  console.log(
    `# effort: ${effort.total}, of it ${effort.most} in ${effort.where}`,
  );
  assert(effort.most <= most, `${effort.most} in ${effort.where}`);
  assert(effort.total <= total, `${effort.total} of at most ${total}`);
  for (const [name, wanted] of Object.entries(calls)) {
    const [low, high] = Array.isArray(wanted) ? wanted : [wanted, wanted];
    const got = effort.calls.get(name) || 0;
    assert(got >= low && got <= high, `${got} calls of ${name}`);
  }
}

module.exports = {countEffort, effortOf, slicesOf, within};
