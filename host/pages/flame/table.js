// SPDX-License-Identifier: Apache-2.0
// The table of functions. Only visible rows exist, so that a hundred thousand
// cost no more than twenty.

const ROW_PIXELS = 24;
const CALLS_SHOWN = 200; // callers or callees of one function

const table = {list: [], first: -1, last: -1};

// Functions in the order of their names, made once.
let byName = null;

function sortByName() {
  const {names} = data.functions;
  byName = Uint32Array.from(names.keys()).sort((a, b) =>
    names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : 0,
  );
}

function sortNumber(f) {
  const {self, total, base, baseSelf} = data.functions;
  if (view.sort === 'self') return self[f];
  if (view.sort === 'total') return total[f];
  if (isBoth()) return data.functions.onlySelf[f];
  const part = Math.abs(shareOf(self[f]) - baseShareOf(baseSelf[f]));
  return Math.round(part * 1e8) + (base[f] > 0 ? 1 : 0);
}

// Sorted by number, the largest first. Numbers that carry the function with
// them are sorted many times faster; sums of waits may be too large for that.
function sortedFunctions(list) {
  if (view.sort === 'name') {
    const wanted = new Set(list);
    return [...byName].filter((f) => wanted.has(f));
  }
  const unit = 1 << 20,
    keys = Float64Array.from(list, sortNumber);
  if (keys.some((number) => number >= Number.MAX_SAFE_INTEGER / unit - 1))
    return [...list].sort((a, b) => sortNumber(b) - sortNumber(a) || a - b);
  list.forEach((f, i) => {
    keys[i] = f - keys[i] * unit;
  });
  return Array.from(keys.sort(), (key) => ((key % unit) + unit) % unit);
}

// Functions that have samples and, while something is searched for, match.
function fillTable() {
  const {total, base, count} = data.functions,
    list = [];
  for (let f = 0; f < count; ++f)
    if ((total[f] > 0 || base[f] > 0) && (!search.found || search.found[f]))
      list.push(f);
  table.list = sortedFunctions(list);
  $('rows-space').style.height = list.length * ROW_PIXELS + 'px';
  for (const name of SORTS)
    $('by-' + name).setAttribute('aria-pressed', view.sort === name);
  table.first = -1;
  drawRows();
  fillCalls();
}

function numberCell(part, text, kind) {
  const cell = make('span', {
    className: 'number ' + (kind || ''),
    textContent: text,
  });
  cell.style.setProperty('--share', Math.min(1, Math.abs(part)).toFixed(3));
  return cell;
}

function changeCell(f) {
  const {self, baseSelf} = data.functions;
  const change = changeOf(self[f], baseSelf[f]);
  const kind = !change.sure ? '' : change.by > 0 ? 'more' : 'less';
  return numberCell(0, pointsText(change.by), kind);
}

function functionColour(f) {
  const tree = {
    func: [f],
    total: [data.functions.total[f]],
    exits: [data.functions.exits[f]],
    base: [data.functions.base[f]],
  };
  return colourOf(tree, 0);
}

// Whether a function's own share is of few samples.
function isFew(f) {
  const {self, hits} = data.functions;
  return isUnsure() && self[f] > 0 && hits[f] < FEW_ROW;
}

function rowOf(f, place) {
  const {self, total, names} = data.functions;
  const name = names[f],
    dot = make('i', {className: 'dot'});
  dot.style.background = functionColour(f);
  const row = make(
    'div',
    {className: 'row', id: 'row-' + f, title: name.slice(0, 500)},
    numberCell(
      shareOf(self[f]),
      fewMark(isFew(f)) + shareText(shareOf(self[f])),
    ),
    numberCell(shareOf(total[f]), shareText(shareOf(total[f]))),
    ...(data.head.diff ? [changeCell(f)] : isBoth() ? [onlyCell(f)] : []),
    dot,
    make('span', {className: 'name', textContent: name.slice(0, 1000)}),
  );
  row.classList.toggle('chosen', f === view.func);
  row.classList.toggle('match', Boolean(search.found?.[f]));
  row.setAttribute('role', 'option');
  row.setAttribute('aria-selected', f === view.func);
  row.style.top = place * ROW_PIXELS + 'px';
  return row;
}

// Rows are replaced only if one changes: a browser drops a click on one that is
// replaced between press and release.
function drawRows() {
  const box = $('rows');
  const first = Math.max(0, Math.floor(box.scrollTop / ROW_PIXELS) - 3);
  const last = Math.ceil((box.scrollTop + box.clientHeight) / ROW_PIXELS) + 3;
  if (first === table.first && last === table.last) return;
  table.first = first;
  table.last = last;
  const shown = $('rows-space'),
    rows = table.list.slice(first, last).map((f, i) => rowOf(f, first + i));
  if (make('div', {}, ...rows).innerHTML !== shown.innerHTML)
    shown.replaceChildren(...rows);
}

function redrawRows() {
  table.first = -1;
  drawRows();
}

function scrollToRow(f) {
  const place = table.list.indexOf(f),
    box = $('rows');
  if (place < 0) return;
  const y = place * ROW_PIXELS;
  if (y < box.scrollTop || y + ROW_PIXELS > box.scrollTop + box.clientHeight)
    box.scrollTop = y - box.clientHeight / 2;
}

// Chooses a function; (andFocus) also its widest box in the graph.
function chooseFunction(f, andFocus) {
  view.func = f;
  scrollToRow(f);
  redrawRows();
  fillCalls();
  $('rows').setAttribute('aria-activedescendant', f >= 0 ? 'row-' + f : '');
  if (andFocus) {
    focused = null;
    if (focusFunction(f)) scrollTo(focused);
  }
  keepHash();
  tellChosen();
  repaint();
}

function callItem([f, weight]) {
  const title = data.functions.names[f].slice(0, 500);
  const call = button('', () => chooseFunction(f, true), {title});
  call.append(make('span', shareText(shareOf(weight))), make('span', title));
  return make('li', {}, listen(call, {pointerenter: () => point(f)}));
}

function fillCalls() {
  const shown = view.func >= 0;
  $('calls').hidden = !shown;
  if (!shown) return;
  for (const [id, areCallers] of [
    ['callers', true],
    ['callees', false],
  ]) {
    const edges = edgesOf(view.func, areCallers);
    const items = edges.slice(0, CALLS_SHOWN).map(callItem);
    const more = edges.length - items.length;
    const rest = more ? `and ${countText(more)} more` : 'none';
    if (more || !items.length)
      items.push(make('li', {className: 'none', textContent: rest}));
    $(id).replaceChildren(...items);
  }
}

function stepRow(step) {
  const place = table.list.indexOf(view.func);
  const next = clamp(place + step, 0, table.list.length - 1);
  if (table.list.length) chooseFunction(table.list[next], true);
}

function listenToTable() {
  const funcOf = (event) =>
    Number(event.target.closest('.row')?.id.slice(4) ?? -1); // of "row-F"
  const keydown = (event) => {
    const steps = {ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15};
    const step = steps[event.key];
    if (event.key === 'Enter') showSandwich(view.func);
    else if (step) stepRow(step);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  listen($('rows'), {
    scroll: drawRows,
    click: (event) => {
      const f = funcOf(event);
      // no dblclick: the first click's row is another element by then
      if (f >= 0 && event.detail === 2) showSandwich(f);
      else if (f >= 0) chooseFunction(f, true);
    },
    pointermove: (event) => point(funcOf(event)),
    pointerleave: () => point(-1),
    keydown,
  });
  for (const name of SORTS)
    listenToClicks({['by-' + name]: () => sortBy(name)});
}
