// SPDX-License-Identifier: Apache-2.0
// Tests that print TAP; the next one goes on when one fails.
'use strict';

let number = 0;

// One test; (run) throws, or its promise fails, when it does not hold.
async function test(what, run) {
  ++number;
  try {
    await run();
    console.log(`ok ${number} - ${what}`);
  } catch (error) {
    console.log(`not ok ${number} - ${what}`);
    console.log(String(error.stack || error).replace(/^/gm, '# '));
  }
}

const plan = () => console.log(`1..${number}`);

module.exports = {test, plan};
