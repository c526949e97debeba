// SPDX-License-Identifier: Apache-2.0
// pages.js FOLDER SPEEDSCOPE: opens the pages that pages.sh made, and the same
// profiles in speedscope (its folder), each in a fresh Chromium and in turns.
// Prints lines of JSON: bytes, time until it is drawn and memory of its
// process, and speedscope's as multiples of these; the median, and the middle
// half.
'use strict';

const {readdirSync, statSync} = require('node:fs');
const path = require('node:path');
const {
  emit,
  line,
  opened,
  speedscopeIsDrawn,
  speedscopeUrl,
} = require('./browsers.js');

const work = path.resolve(process.argv[2]);
const release = path.resolve(process.argv[3], 'dist/release');
const TURNS = 5;

// What has to be given to somebody who shall see it: one file, or a profile
// and the viewer's code.
function speedscopeBytes(name) {
  const code = readdirSync(release).filter((file) =>
    /^(speedscope-.*\.(js|css)|index\.html|.*\.woff2)$/.test(file),
  );
  return (
    statSync(path.join(work, name + '.folded.js')).size +
    code
      .map((file) => statSync(path.join(release, file)).size)
      .reduce((sum, size) => sum + size, 0)
  );
}

function bytes(name, ours, theirs) {
  line(`page_${name}_bytes`, ours, 'bytes');
  line(`page_${name}_bytes_speedscope`, theirs / ours, 'ratio');
}

async function compare(name) {
  const ours = [],
    theirs = [];
  const url = speedscopeUrl(release, path.join(work, name + '.folded'));
  for (let turn = 0; turn < TURNS; ++turn) {
    ours.push(
      await opened(
        work,
        `file://${work}/${name}.html`,
        () => document.body.dataset.ready,
      ),
    );
    theirs.push(await opened(work, url, speedscopeIsDrawn));
  }
  bytes(
    name,
    statSync(path.join(work, name + '.html')).size,
    speedscopeBytes(name),
  );
  for (const what of ['ms', 'megabytes']) {
    emit(
      `page_${name}_${what}`,
      ours.map((run) => run[what]),
      what === 'ms' ? 'ms' : 'MB',
    );
    emit(
      `page_${name}_${what}_speedscope`,
      theirs.map((run, turn) => run[what] / ours[turn][what]),
      'ratio',
    );
  }
}

(async () => {
  for (const name of ['small', 'large']) await compare(name);
})();
