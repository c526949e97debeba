// SPDX-License-Identifier: Apache-2.0
// The timeline's own code outside of a page: what it makes of a payload, and
// on which rows it places it.
'use strict';

const {execFileSync} = require('node:child_process');
const {readFileSync} = require('node:fs');
const vm = require('node:vm');
const {gunzipSync} = require('node:zlib');

const SOURCES = [
  'base/payload',
  'shared/hash',
  'shared/slices',
  'timeline/state',
  'timeline/model',
  'timeline/rows',
  'timeline/place',
];

function scriptOf(names) {
  return names
    .map((name) => readFileSync(`host/pages/${name}.js`, 'utf8'))
    .join('\n');
}

// The enums that the build makes of tasks.h.
function enums() {
  const program =
    'import sys, json; sys.path.insert(0, "host/pages"); ' +
    'import build_page; ' +
    'print(json.dumps(build_page.enums_of(["host/tasks/tasks.h"])))';
  return JSON.parse(execFileSync('python3', ['-c', program]));
}

// {model, items} of the page at (path), without groups.
async function timelineOf(path) {
  const page = readFileSync(path, 'utf8'),
    payload = page.match(/id="payload"[^>]*>([^<]*)</)[1],
    bytes = new Uint8Array(gunzipSync(Buffer.from(payload, 'base64')));
  const run = vm.runInNewContext(
    `(async (bytes) => {
      ${scriptOf(SOURCES)}
      await loadModel(columnsOf(bytes));
      view.grouped = false;
      for (const _ of placeItems());
      return {model, items};
    })`,
    {
      ...enums(),
      DataView,
      TextDecoder,
      Uint8Array,
      performance,
      setTimeout,
      structuredClone,
    },
  );
  return run(bytes);
}

module.exports = {timelineOf};
