// SPDX-License-Identifier: Apache-2.0
// The other panels: sites, and who held whom.

let panelWork = null; // ends what fills the panel

// A row; a cell may be a list of what is in it.
const rowOf = (cells) =>
  make('tr', {}, ...cells.map((cell) => make('td', {}, ...[cell].flat())));

// A table with a head, if it has (names), and these rows of cells.
function tableOf(id, names, rows) {
  const head = names.map((name) =>
    make('th', {textContent: name, scope: 'col'}),
  );
  return make(
    'table',
    {id},
    ...(names.length ? [make('tr', {}, ...head)] : []),
    ...rows.map(rowOf),
  );
}

// What (part) of sorted (times) are below, if there are any.
const partText = (times, part) =>
  times.length ? clocksText(percentile(times, part)) : '–';

function showSites(panel) {
  const sums = new Map(),
    {objects} = model;
  for (let o = 1; o < objects.count; ++o) {
    if (isSystem(o)) continue;
    const key = alikeKey(o);
    const none = {key, object: o, count: 0, open: 0, stuck: 0, life: 0},
      sum = sums.get(key) || none;
    ++sum.count;
    if (isStuck(o)) sum.stuck = Math.max(sum.stuck, stuckFor(o));
    sum.open += Number(objects.state[o] === TASKS_END.open);
    sum.life += endOf(o) - objects.begin[o];
    sums.set(key, sum);
  }
  const list = [...sums.values()].sort(
    (a, b) => b.stuck - a.stuck || b.count - a.count,
  );
  const rows = list
    .slice(0, 400)
    .map((sum) => [
      [siteName(sum.object), sitePlace(sum.object)],
      countText(sum.count),
      countText(sum.open),
      clocksText(sum.life / sum.count),
      filterButtons(sum.key, siteName(sum.object)),
    ]);
  const names = ['Site', 'Objects', 'Still pending', 'Mean life', 'Show'];
  panel.append(tableOf('sites', names, rows));
}

function toggled(list, value) {
  return list.includes(value)
    ? list.filter((one) => one !== value)
    : [...list, value];
}

function toggleFilter(list, key) {
  view[list] = toggled(view[list], key);
  changed('items');
  showPanel();
}

function filterButtons(key, name) {
  const filter = (list, off, on, title) => {
    const isOn = view[list].includes(key);
    return button(isOn ? on : off, () => toggleFilter(list, key), {
      className: 'link',
      title: `${title} ${name}`,
      ariaPressed: String(isOn),
    });
  };
  return [
    filter('hidden', 'hide', 'show', 'Hide or show'),
    ' ',
    filter('only', 'only', 'all', 'Only'),
  ];
}

// The objects that are drawn, and of groups all members.
function shownObjects() {
  const list = [];
  for (let i = 0; i < items.count; ++i)
    if (items.group[i] >= 0) list.push(...groups[items.group[i]].shown);
    else if (!isSystem(items.object[i])) list.push(items.object[i]);
  if (!view.range) return list;
  const [from, to] = view.range;
  return list.filter((o) => model.objects.begin[o] < to && endOf(o) >= from);
}

function showLate(panel) {
  const names = ['Objects', 'Running', 'Ready', 'Waiting', 'Stolen', 'Still'];
  const table = tableOf('late', names, []);
  panel.append(
    make(
      'p',
      'What objects did with their lives, by site. Ready: they could have ' +
        'run, and something else held the loop. Choose an object to see ' +
        'what. Still: how long one that has not ended has been waiting, ' +
        'ready or ' +
        'pending in the end; such sites come first.',
    ),
    table,
  );
  panelWork = inSlices(splitOfAll(shownObjects()), (sums) => {
    sums.sort(
      (a, b) => b.open - a.open || b.ready - a.ready || b.waiting - a.waiting,
    );
    for (const sum of sums.slice(0, 300))
      table.append(
        make(
          'tr',
          {className: 'site'},
          make('td', {colSpan: 6}, siteName(sum.object), sitePlace(sum.object)),
        ),
        rowOf([
          countText(sum.count),
          clocksText(sum.running),
          clocksText(sum.ready),
          clocksText(sum.waiting),
          clocksText(sum.stolen),
          sum.open ? clocksText(sum.open) : '–',
        ]),
      );
    panel.dataset.done = 'yes';
  });
}
