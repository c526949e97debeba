// SPDX-License-Identifier: Apache-2.0
// Colours, from the style sheet. Those of arrows and counters differ in
// lightness as well, for readers who do not see all hues (Okabe and Ito 2008).

const palette = {};

const PALETTE = [
  ...['ink', 'soft', 'panel', 'accent', 'bad', 'found', 'ground', 'grid'],
  ...['idle', 'pause', 'stolen-band', 'object', 'run', 'ready', 'glow'],
  ...['density', 'irq'],
];
const ARROW_COLOURS = {
  create: '--object',
  try_read: '--try-read',
  read: '--read',
  failed_read: '--bad',
  resolve: '--resolve',
  fail: '--bad',
  cancel: '--bad',
  become: '--object',
  signal: '--signal',
  wake: '--ready',
  defer: '--irq',
  packet: '--packet',
};
const COUNTER_COLOURS = [
  ...['--read', '--signal', '--resolve', '--irq', '--ink', '--try-read'],
];

function readTheme() {
  for (const name of PALETTE) palette[name] = colourOfTheme(`--${name}`);
  palette.arrows = ARROWS.map((name) => colourOfTheme(ARROW_COLOURS[name]));
  palette.hatching = null; // hatching()
  palette.counters = COUNTER_COLOURS.map(colourOfTheme);
}
