// SPDX-License-Identifier: Apache-2.0
// Functions, the tree of all stacks, and samples of a payload.
//
// The tree is in drawing order: what is below node i are the nodes i + 1 up to
// end[i], exclusive. Node 0 is all of it and has no function (-1).

function treeOf(columns) {
  const depth = Uint16Array.from(columns.changes('node.depth'));
  const count = depth.length,
    open = [];
  const tree = {
    count,
    depth,
    func: Int32Array.from(columns.plain('node.function'), (f) => f - 1),
    line: Uint32Array.from(columns.plain('node.line')),
    parent: new Int32Array(count),
    end: new Uint32Array(count),
  };
  for (let i = 0; i < count; ++i) {
    while (open.length > depth[i]) tree.end[open.pop()] = i;
    tree.parent[i] = open.length ? open[open.length - 1] : -1;
    open.push(i);
  }
  while (open.length) tree.end[open.pop()] = count;
  return tree;
}

// There may be millions: the page may do something else between the columns.
async function samplesOf(columns) {
  const time = columns.changes('sample.time');
  await pause();
  const clocks = signed(columns.plain('sample.extra'), false);
  await pause();
  for (let i = 0; i < time.length; ++i)
    clocks[i] += time[i] - (i > 0 ? time[i - 1] : 0);
  await pause();
  const stack = new Uint32Array(columns.plain('sample.stack'));
  await pause();
  const samples = new Uint32Array(columns.plain('sample.samples'));
  return {time, clocks, stack, samples};
}

function functionsOf(columns, strings) {
  const names = Array.from(columns.changes('function.name'), (i) => strings[i]);
  return {
    count: names.length,
    names,
    folders: Array.from(columns.plain('function.folder'), (i) => strings[i]),
    language: Uint8Array.from(columns.plain('function.language')),
    part: Uint8Array.from(columns.plain('function.part')),
  };
}
