// SPDX-License-Identifier: Apache-2.0
// The pages of docs/timeline/try as a reader opens them from disk: they load
// the sources of host/pages, and nothing else.
'use strict';

const {readdirSync} = require('node:fs');
const path = require('node:path');
const {test} = require('./tap.js');
const {assert, closePage, openPage} = require('./browser.js');

const FOLDER = path.resolve('docs/timeline/try');
const SOURCES = path.resolve('host/pages') + path.sep;

// {title, loaded, problems} of the page (name).
async function opened(name) {
  const page = await openPage(path.join(FOLDER, name)),
    title = await page.text('#title'),
    files = page.problems.filter((one) => /^file:/.test(one)),
    problems = page.problems.filter((one) => !/^file:/.test(one)),
    loaded = files.map((one) => new URL(one).pathname);
  assert.match(await page.text('#facts'), /^[1-9][\d,]* events of /);
  const before = await page.getAttribute('body', 'data-painted');
  await page.keys('w');
  assert.notStrictEqual(
    await page.getAttribute('body', 'data-painted'),
    before,
  );
  await closePage(page);
  return {title, loaded, problems};
}

module.exports = async () => {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.html'));
  await test('the pages of the documents can be tried', async () => {
    assert(names.length >= 13, names.join(' '));
    for (const name of names) {
      const {title, loaded, problems} = await opened(name),
        demo = name.replace('.html', '');
      assert.deepStrictEqual(problems, [], name);
      const others = loaded.filter((one) => !one.startsWith(SOURCES));
      assert.deepStrictEqual(others, [path.join(FOLDER, 'enums.js')], name);
      assert(loaded.length > others.length, name);
      assert.match(title, demo === 'both' ? /guests/ : RegExp(`=${demo}$`));
    }
  });
};
