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

// (make) of each key is called once.
function once(make) {
  const made = new Map();
  return (key) => {
    if (!made.has(key)) made.set(key, make(key));
    return made.get(key);
  };
}

// The enums that the build makes of a header.
const enumsOf = once((header) => {
  const program =
    'import sys, json; sys.path.insert(0, "host/pages"); ' +
    'import build_page; ' +
    'print(json.dumps(build_page.enums_of(sys.argv[1:])))';
  return JSON.parse(execFileSync('python3', ['-c', program, header]));
});

// {model, items} of the page at (path), without groups. Nobody changes it.
const timelineOf = once(async (path) => {
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
      ...enumsOf('host/tasks/tasks.h'),
      DataView,
      TextDecoder,
      Uint8Array,
      performance,
      setTimeout,
      structuredClone,
    },
  );
  return run(bytes);
});

module.exports = {timelineOf};
