// SPDX-License-Identifier: Apache-2.0
// evented.js EVENTS: writes a profile in speedscope's own format to stdout, as
// many events as a timeline has that it is compared with. It has no tasks:
// events are calls and returns, at random, of twenty functions, up to twelve
// deep, which is what it draws over time.
'use strict';

const FUNCTIONS = 20;
const DEEP = 12;

const events = Number(process.argv[2]);
let state = 1;

function below(limit) {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return (state >>> 16) % limit;
}

function* calls() {
  const stack = [];
  let at = 0;
  for (let left = events; left > 0; --left) {
    at += 1 + below(60);
    const opens = stack.length < Math.min(DEEP, left - 1) && below(2) === 0;
    if (opens || stack.length === 0) {
      stack.push(below(FUNCTIONS));
      yield {type: 'O', frame: stack[stack.length - 1], at};
    } else yield {type: 'C', frame: stack.pop(), at};
  }
}

const list = [...calls()];
process.stdout.write(
  JSON.stringify({
    $schema: 'https://www.speedscope.app/file-format-schema.json',
    shared: {
      frames: Array.from({length: FUNCTIONS}, (_, i) => ({
        name: `handler_${i}`,
      })),
    },
    profiles: [
      {
        type: 'evented',
        name: 'made',
        unit: 'microseconds',
        startValue: 0,
        endValue: list[list.length - 1].at,
        events: list,
      },
    ],
  }),
);
