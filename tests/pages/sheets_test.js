// SPDX-License-Identifier: Apache-2.0
// How each page looks, at both sizes and in both themes: as it did, and nothing
// is cropped or overlaps. That the tolerance is not too wide is tested, too.
'use strict';

const {test} = require('./tap.js');
const {assert} = require('./browser.js');
const {LOOKS} = require('./boxes.js');
const {SHEET_MOST, changedSheet, sameSheet} = require('./pictures.js');

// What is not the same everywhere: folders of the machine, and a port.
const HIDDEN = `
  #recording > :nth-child(-n + 4), #listing .path { display: none }
  #viewers code { visibility: hidden }`;

const SHEETS = {
  flame: 'made.html',
  'flame-icicle': 'made.html#i=1&f=helper',
  'flame-callers': 'made.html#v=helper',
  'flame-change': 'more.html',
  'flame-cpus': 'cpus.html#w=latency&f=helper',
  'flame-sides': 'both.html',
  'flame-sides-cpus': 'several.html',
  overview: 'open_stolen/index.html',
  'overview-own': 'open_own/index.html',
  'overview-loop': 'open_loop/index.html',
  'overview-cpus': 'open_cpus/index.html',
  annotate: 'open_stolen/annotate.html',
  'annotate-source': 'listing.html',
  timeline: 'tasks.html',
  'timeline-sites': 'tasks.html#p=sites',
  'timeline-object': 'pending.html#o=3&p=object',
  'timeline-lanes': 'lanes.html',
  'timeline-counters': 'counters.html',
  causal: 'causal.html',
  'causal-named': 'causalnamed.html',
  live: 'live.html#paused=1',
};

// The rest at each size in one theme.
const IN_ALL_LOOKS = new Set(['flame', 'overview', 'timeline', 'causal']);

const optionsOf = (name, style = '') => ({
  style: HIDDEN + style,
  ...(IN_ALL_LOOKS.has(name) && {looks: LOOKS}),
});

// [sheet, style that changes it]
const CHANGES = {
  'a header in two lines': ['flame-change', '#facts { margin-right: 60% }'],
  'a legend that is missing': ['flame-sides', '#legend { display: none }'],
  'another ground': ['overview-own', ':root { --panel: #f4d8d8 !important }'],
  'a column that is gone': ['live', 'td:nth-child(6) { visibility: hidden }'],
  'texts that overlap': [
    'causal-named',
    '#legend span { margin-right: -20px }',
  ],
  'another colour of curves': ['causal-named', 'svg .curve { stroke: red }'],
  'rows that are higher': ['annotate', '#functions li { padding: 1px 0 }'],
};

module.exports = async () => {
  for (const [name, where] of Object.entries(SHEETS))
    await test(`sheet "${name}" is as it was`, async () =>
      sameSheet(`sheet-${name}`, where, optionsOf(name)));
  for (const [what, [name, style]] of Object.entries(CHANGES))
    await test(`sheets find ${what}`, async () => {
      const options = optionsOf(name, style),
        part = await changedSheet(`sheet-${name}`, SHEETS[name], options);
      assert(part > SHEET_MOST, `only ${(100 * part).toFixed(3)} % differ`);
    });
};
