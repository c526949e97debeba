// SPDX-License-Identifier: Apache-2.0
// Warnings: what is missing from the profile, and whether samples are few.

const isStolen = ({kind}) => kind === FLAME_LOSS_KIND.stolen;

// Of a comparison both sides, as soon as one has lost something.
function lossNotes() {
  const sides = data.head.sides.map(lossesOfSide);
  if (sides.length === 1) return sides[0];
  if (!sides.some((notes) => notes.length)) return [];
  return (isBoth() ? ['Inside', 'Outside'] : ['After', 'Before']).map(
    (name, i) => [
      `${name}: ` +
        (sides[i].map(([text]) => text).join(', ') || 'nothing was lost'),
      sides[i].map(([text, reason]) => `${text}: ${reason}`).join('\n'),
    ],
  );
}

// Too few samples (waits are all known), and whatever was lost.
function showNotes() {
  const few = data.head.waits ? [] : fewSamples(weights.count);
  const notes = [
    ...few,
    ...(data.head.waits
      ? []
      : steadyNote({steady: data.head.sides.some(({steady}) => steady)})),
    ...(isBoth() ? clockNote() : []),
    ...lossNotes(),
  ];
  if (view.removed.length)
    notes.push([
      plural(view.removed.length, 'stack removed', 'stacks removed'),
      'Restore brings them back',
    ]);
  putNotes(notes);
}
