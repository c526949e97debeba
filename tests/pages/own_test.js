// SPDX-License-Identifier: Apache-2.0
// The profiler's own time is in no share and has a row of its own; few samples
// are marked. And how pages of samples look at both sizes, in both themes.
'use strict';

const {test} = require('./tap.js');
const {
  assert,
  image,
  onPage,
  reportOf,
  run,
  withPage,
  work,
} = require('./browser.js');
const {fitsEverywhere} = require('./boxes.js');

// may end in an ellipsis
const NAMES = '.row .name, #rows .name, #functions span';
const HIDDEN = 'th .hidden'; // for screen readers
const report = (...words) => reportOf(...words, '--weight', 'samples');

async function own() {
  await test('the profiler\u2019s own samples are in no share', async () => {
    let plain;
    await withPage('made.html', {}, async (page) => {
      plain = await page.texts('.row');
    });
    await withPage('own.html', {}, async (page) => {
      assert.deepStrictEqual(await page.texts('.row'), plain);
      await page.has('#notes', /200 samples of the profiler \(9\.\d+ %\)/);
    });
    await withPage('own_too.html', {}, async (page) => {
      const rows = await page.texts('.row');
      assert(
        rows.some((row) => / prof_drain$/.test(row)),
        rows.join('; '),
      );
      assert(!(await page.text('#notes')).includes('of the profiler'));
    });
  });
  await test('the report has the same shares', async () => {
    const apart = report('own.trace'),
      made = report('made.trace');
    assert.deepStrictEqual(apart.rows, made.rows);
    assert.strictEqual(apart.profiler.samples, 200);
    assert.strictEqual(made.profiler.samples, 0);
    const all = report('own.trace', '--profiler').samples;
    assert.strictEqual(all, apart.samples + 200);
  });
  await onPage('its row', 'open_own/index.html', async (page) => {
    const rows = await page.texts('#rows tr');
    assert.match(
      rows.at(-1),
      /^9\.\d+ % – \[the profiler itself\], in no other share/,
    );
    assert(!rows.some((row) => row.includes('prof_')));
  });
}

async function few() {
  await onPage('fewer than 16 samples are marked', 'few.html', async (page) => {
    const rows = await page.texts('.row'),
      marked = rows.filter((row) => row.startsWith('? '));
    const few = report('few.trace').rows.filter(
      ({self}) => self > 0 && self < 16,
    );
    assert(few.length > 0 && few.length < rows.length, rows.join('; '));
    assert.strictEqual(marked.length, few.length);
  });
  await onPage('a period that does not vary', 'made.html', async (page) => {
    const said = (await page.text('#notes')).includes('does not vary'),
      report = run('report', '-k', image, `${work}/made.trace`);
    assert.strictEqual(said, report.includes('period does not vary'));
  });
}

const PAGES = [
  'made.html',
  'more.html',
  'few.html',
  'stolen.html',
  'open/index.html',
  'open_own/index.html',
  'open/annotate.html',
];

async function looks() {
  const options = {ellipsis: NAMES, ignore: HIDDEN};
  for (const name of PAGES)
    await onPage(`${name} is seen whole, at any size and theme`, name, (page) =>
      fitsEverywhere(page, name, () => page.drawn(), options),
    );
}

module.exports = async () => {
  await own();
  await few();
  await looks();
};
