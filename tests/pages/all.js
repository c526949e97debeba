// SPDX-License-Identifier: Apache-2.0
// all.js FOLDER PART PARASITE: the tests of the pages in FOLDER, which suite.py
// made; PARASITE is the command. A part has a browser of its own.
'use strict';

const {drive} = require('./browser.js');

const PARTS = {
  graph: ['graph', 'table', 'time', 'diff', 'touch'],
  looks: ['looks', 'boxes', 'files', 'sides', 'static'],
  every: ['every', 'own'],
  large: ['large', 'static'],
  sheets: ['sheets'],
  tasks: [
    ...['tasks', 'rows', 'clicks', 'bands', 'waits', 'pending'],
    ...['interrupts', 'lanes'],
    ...['counters', 'tried', 'pictures', 'touch', 'static'],
  ],
};

drive(async () => {
  for (const name of PARTS[process.argv[3]])
    await require(`./${name}_test.js`)();
});
