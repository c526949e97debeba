// SPDX-License-Identifier: Apache-2.0
// Colours, from the style sheet. Those of arrows and counters differ in
// lightness as well, for readers who do not see all hues (Okabe and Ito 2008).

const palette = {};

const PALETTE = {
  ink: '--ink',
  soft: '--soft',
  panel: '--panel',
  accent: '--accent',
  bad: '--bad',
  found: '--found',
  ground: '--ground',
  grid: '--grid',
  idle: '--idle',
  pause: '--pause',
  stolenBand: '--stolen-band',
  line: '--object',
  run: '--run',
  ready: '--ready',
  glow: '--glow',
  density: '--density',
};
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
  '--read',
  '--signal',
  '--resolve',
  '--irq',
  '--ink',
  '--try-read',
];

// A variable has both themes' colours in it; an element that uses it has the
// right one.
function readTheme() {
  const probe = $('spoken'),
    style = getComputedStyle(probe);
  const colour = (name) => {
    probe.style.color = `var(${name})`;
    return style.color;
  };
  for (const [name, variable] of Object.entries(PALETTE))
    palette[name] = colour(variable);
  palette.arrows = ARROWS.map((name) => colour(ARROW_COLOURS[name]));
  palette.hatching = null; // hatching()
  palette.counters = COUNTER_COLOURS.map(colour);
  probe.style.color = '';
}
