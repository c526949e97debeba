// SPDX-License-Identifier: Apache-2.0
// Groups of many alike objects as rows: how many there are, against a count of
// the same from the model; lives that can be clicked; all by keys, too.
'use strict';

const {readFileSync} = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');
const {test} = require('./tap.js');
const {assert, number, onPage, work} = require('./browser.js');
const {timelineOf} = require('./timeline_model.js');

// The class Curve of groups.js.
function curveClass() {
  const source = ['shared/slices', 'timeline/groups']
    .map((name) => readFileSync(`host/pages/${name}.js`, 'utf8'))
    .join('\n');
  return vm.runInNewContext(`${source}; Curve`, {performance, setTimeout});
}

function curves() {
  const Curve = curveClass(),
    begins = [],
    ends = [];
  let state = 7;
  const random = (limit) => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return state % limit;
  };
  for (let i = 0; i < 300; ++i) {
    begins.push(random(10000));
    ends.push(begins[i] + 1 + random(500));
  }
  const curve = new Curve(begins, ends);
  const at = (time) => begins.filter((b, i) => b < time && ends[i] >= time);
  let most = 0;
  for (let time = 0; time < 11000; ++time)
    most = Math.max(most, at(time + 0.5).length);
  assert.strictEqual(curve.most(), most);
  for (let from = 0; from < 10500; from += 700) {
    let sum = 0;
    for (let time = from; time < from + 700; ++time)
      sum += at(time + 0.5).length;
    assert(Math.abs(curve.mean(from, from + 700) - sum / 700) < 1e-9);
    assert.strictEqual(curve.mean(from, from + 1), at(from + 0.5).length);
  }
}

const fresh = (what, where, check) =>
  onPage(what, where, async (page) => check(page, await page.box('#canvas')));

// Moves the pointer down from (y) until what is under it is (wanted).
async function pointed(page, x, y, wanted) {
  for (const end = y + 400; y < end; y += 3) {
    await page.mouse.move(x, y);
    if (await page.isHidden('#tip')) continue;
    const said = await page.text('#tip');
    if (wanted.test(said)) return {y, said};
  }
  return assert.fail(`nothing at ${x} says ${wanted}`);
}

module.exports = async () => {
  await test('counts over time are exact', async () => curves());
  const {model} = await timelineOf(path.join(work, 'alike.html')),
    {objects, head} = model,
    isTask = (o) => head.types[objects.type[o]] === 'task';
  const tasks = [...Array(objects.count).keys()].filter((o) => o && isTask(o));
  const lifeOf = (o) => objects.end[o] - objects.begin[o];
  const longest = tasks.reduce((a, b) => (lifeOf(b) > lifeOf(a) ? b : a));

  await fresh('a group says its size', 'alike.html', async (page, box) => {
    const {said} = await pointed(page, box.x + 500, box.y + 40, / exist; /),
      [, at] = said.match(/At ([\d.]+) ms/),
      counts = said.match(/[\d,]+ (?=exist|run|are|wait)/g).map(number);
    const clock = (Number(at) / 1000) * head.clock_hz;
    assert.strictEqual(counts[0], counts[1] + counts[2] + counts[3]);
    const near = [-1, 0, 1].map((step) => {
      const time = clock + (step * head.clock_hz) / 1e5;
      return tasks.filter(
        (o) => objects.begin[o] < time && objects.end[o] >= time,
      ).length;
    });
    assert(
      counts[0] >= Math.min(...near) - 2 && counts[0] <= Math.max(...near) + 2,
      `${counts[0]}, counted ${near}`,
    );
  });
  const all = `alike.html#a=0&b=${1.02 * model.lastTime}`;
  await fresh('its longest life, by a click', all, async (page, box) => {
    const x = (objects.end[longest] / (1.02 * model.lastTime)) * box.width;
    const {y} = await pointed(page, box.x + x, box.y + 40, /\btask, /);
    await page.mouse.click(box.x + x, y);
    await page.has('#panel h2', ` ${objects.id[longest]}`);
    assert.strictEqual(await page.kept('q'), null, 'no group was opened');
  });
  await fresh('the same by keys, and it opens', 'alike.html', async (page) => {
    await page.keys('ArrowDown', ...Array(30).fill('ArrowUp'));
    // above all are the interrupts and the event loop
    await page.has('#panel h2', 'irq 48');
    await page.keys('ArrowDown');
    await page.has('#panel h2', 'event loop');
    await page.keys('ArrowDown');
    await page.has('#panel h2', ` ${objects.id[longest]}`);
    await page.keys('ArrowLeft');
    await page.has('#panel', 'task');
    await page.keys('e');
    await page.has('#filters', 'open: ');
    await page.keys('e');
    await page.waitForFunction(
      () => !document.getElementById('filters').textContent,
    );
  });
};
