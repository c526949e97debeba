// SPDX-License-Identifier: Apache-2.0
// What limits a profile, in words: too few samples, and what is missing.

const FEW_SAMPLES = 1000; // fewer are worth a warning

const plural = (count, one, more) =>
  countText(count) + ' ' + (count === 1 ? one : more);
const counter = (one, more) => (count) => plural(count, one, more);
const CLOCK_HZ = 1e7; // PROF_CLOCK_HZ of <prof/format.h>

// What can be lost, or is apart: words for an amount, what it is a share of,
// and the reason.
const LOSSES = {
  missed: {
    words: counter('tick missed', 'ticks missed'),
    of: (side) => side.samples + side.losses.missed,
    reason:
      'Timer ticks that were due and never came, since interrupts were off ' +
      'or the host did not run the guest',
  },
  dropped: {
    words: counter('sample without a stack', 'samples without a stack'),
    of: (side) => side.samples + side.losses.dropped,
    reason: 'There was no room for them; only their time is known',
  },
  packets: {
    words: counter('packet missing', 'packets missing'),
    reason: 'Parts of the recording that never arrived',
  },
  discarded: {
    words: counter('sample discarded', 'samples discarded'),
    of: (side) => side.samples + side.losses.discarded,
    reason: 'The guest could not send them in time',
  },
  stolen: {
    words: (clocks) => secondsText(clocks / CLOCK_HZ) + ' stolen',
    of: (side) => side.clocks * (side.cpus || 1), // each has this time
    reason: 'The host did not run the guest in this time',
  },
  own: {
    words: counter('sample of the profiler', 'samples of the profiler'),
    of: (side) => side.samples,
    reason:
      "The profiler's own time: it is in no share; the option --profiler " +
      'counts it as any other',
  },
};

// What (side) has lost: [words, reason] each.
function lossesOfSide(side) {
  const notes = [];
  for (const [kind, {words, of, reason}] of Object.entries(LOSSES)) {
    const sum = side.losses[kind],
      whole = of ? of(side) : 0;
    const share = whole ? ` (${shareText(sum / whole)})` : '';
    if (sum) notes.push([words(sum) + share, reason]);
  }
  return notes;
}

// The Wilson interval of (part) of (count) samples, 95 %: Wilson 1927.
function interval(part, count, z = 1.959964) {
  if (count === 0) return [0, 1];
  const over = 1 + (z * z) / count;
  const middle = (part + (z * z) / (2 * count)) / over;
  const half =
    (z / over) *
    Math.sqrt((part * (1 - part)) / count + (z * z) / (4 * count * count));
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

// A note where (count) samples are few: [[words, reason]], or [].
function fewSamples(count) {
  if (count >= FEW_SAMPLES) return [];
  const [low, high] = interval(0.5, count);
  return [
    [
      `Only ${samplesText(count)}: shares are accurate to ` +
        `\u00b1${(50 * (high - low)).toFixed(1)} percentage points`,
      'At 95 % confidence, for a function with half of the samples',
    ],
  ];
}

// Shares of so few samples are marked, as the guest's own table does:
// INTERVAL_FEW of profile/interval.h.
const FEW_ROW = 16;
const FEW_TITLE = `Fewer than ${FEW_ROW} samples: the share is a guess`;
const fewMark = (few) => (few ? '? ' : '');

// A note where ticks came at a fixed rate: [[words, reason]], or [].
function steadyNote({steady}) {
  if (!steady) return [];
  return [
    [
      'The sampling period does not vary',
      'Code that runs in step with it, such as work of the kernel\u2019s ' +
        'timer, has a wrong share',
    ],
  ];
}

// Shows notes, [words, reason] each.
function putNotes(notes) {
  $('notes').replaceChildren(
    ...notes.map(([text, reason]) =>
      make('span', {textContent: text, title: reason}),
    ),
  );
}
