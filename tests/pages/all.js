// SPDX-License-Identifier: Apache-2.0
// all.js FOLDER PART PARASITE: the tests of the pages in FOLDER, which suite.py
// made; PARASITE is the command.
'use strict';

const {plan} = require('./tap.js');
const {start, stop} = require('./browser.js');

const parts = [
  'graph',
  'table',
  'time',
  'diff',
  'looks',
  'files',
  'every',
  'large',
  'tasks',
  'sides',
].filter((part) => !process.argv[3] || process.argv[3] === part);

(async () => {
  await start();
  for (const part of parts) await require(`./${part}_test.js`)();
  if (parts.includes('every')) await require('./own_test.js')();
  if (parts.includes('looks')) await require('./boxes_test.js')();
  if (parts.includes('tasks')) {
    await require('./rows_test.js')();
    await require('./clicks_test.js')();
    await require('./bands_test.js')();
    await require('./waits_test.js')();
    await require('./pending_test.js')();
    await require('./pictures_test.js')();
  }
  await stop();
  plan();
})();
