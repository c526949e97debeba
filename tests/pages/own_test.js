// SPDX-License-Identifier: Apache-2.0
// The profiler's own time is in no share and has a row of its own; few samples
// are marked. And how pages of samples look at both sizes, in both themes.
'use strict';

const path = require('node:path');
const {test} = require('./tap.js');
const {
  assert,
  has,
  run,
  text,
  textsOf,
  untilDrawn,
  withPage,
  work,
} = require('./browser.js');
const {SIZES, SCHEMES, wrongWith} = require('./boxes.js');

// may end in an ellipsis
const NAMES = '.row .name, #rows .name, #functions span';
const HIDDEN = 'th .hidden'; // for screen readers
const image = path.join(work, 'image');
const reportOf = (...words) =>
  JSON.parse(
    run('report', '-q', '--json', '-k', image, ...words, '--weight', 'samples'),
  );

async function own() {
  await test('the profiler\u2019s own samples are in no share', async () => {
    let plain;
    await withPage('made.html', async (page) => {
      plain = await textsOf(page, '.row');
    });
    await withPage('own.html', async (page) => {
      assert.deepStrictEqual(await textsOf(page, '.row'), plain);
      await has(page, '#notes', /200 samples of the profiler \(9\.\d+ %\)/);
    });
    await withPage('own_too.html', async (page) => {
      const rows = await textsOf(page, '.row');
      assert(
        rows.some((row) => / prof_drain$/.test(row)),
        rows.join('; '),
      );
      assert(!(await text(page, '#notes')).includes('of the profiler'));
    });
  });
  await test('the report has the same shares', async () => {
    const trace = path.join(work, 'own.trace'),
      apart = reportOf(trace),
      made = reportOf(path.join(work, 'made.trace'));
    assert.deepStrictEqual(apart.rows, made.rows);
    assert.strictEqual(apart.profiler.samples, 200);
    assert.strictEqual(made.profiler.samples, 0);
    assert.strictEqual(
      reportOf('--profiler', trace).samples,
      apart.samples + 200,
    );
  });
  await test('the overview has a row of it', async () => {
    await withPage('open_own/index.html', async (page) => {
      const rows = await textsOf(page, '#rows tr');
      assert.match(
        rows.at(-1),
        /^9\.\d+ % – \[the profiler itself\], in no other share/,
      );
      assert(!rows.some((row) => row.includes('prof_')));
    });
  });
}

async function few() {
  await test('shares of fewer than 16 samples are marked', async () => {
    await withPage('few.html', async (page) => {
      const rows = await textsOf(page, '.row'),
        marked = rows.filter((row) => row.startsWith('? '));
      const few = reportOf(path.join(work, 'few.trace')).rows.filter(
        ({self}) => self > 0 && self < 16,
      );
      assert(few.length > 0 && few.length < rows.length, rows.join('; '));
      assert.strictEqual(marked.length, few.length);
    });
  });
  await test('a sampling period that does not vary is said', async () => {
    await withPage('made.html', async (page) => {
      const said = (await text(page, '#notes')).includes('does not vary'),
        report = run('report', '-k', image, path.join(work, 'made.trace'));
      assert.strictEqual(said, report.includes('period does not vary'));
    });
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
  for (const name of PAGES)
    await test(`${name} is seen whole, at any size and theme`, async () => {
      for (const size of SIZES)
        await withPage(
          name,
          async (page) => {
            for (const colorScheme of SCHEMES) {
              await page.emulateMedia({colorScheme});
              await untilDrawn(page);
              assert.deepStrictEqual(
                await wrongWith(page, {ellipsis: NAMES, ignore: HIDDEN}),
                [],
                `${size.width} ${colorScheme}`,
              );
            }
          },
          {size},
        );
    });
}

module.exports = async () => {
  await own();
  await few();
  await looks();
};
