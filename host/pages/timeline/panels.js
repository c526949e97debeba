// SPDX-License-Identifier: Apache-2.0
// The other panels: sites, who held whom, interrupts, response times.

let panelWork = null; // ends what fills the panel

function headRow(names) {
  return make(
    'tr',
    {},
    ...names.map((name) => make('th', {textContent: name, scope: 'col'})),
  );
}

function rowOf(cells) {
  return make(
    'tr',
    {},
    ...cells.map((cell) =>
      make('td', {}, ...(Array.isArray(cell) ? cell : [cell])),
    ),
  );
}

// Sites, each with buttons that filter.
function showSites(panel) {
  const sums = new Map(),
    {objects} = model;
  for (let o = 1; o < objects.count; ++o) {
    if (isLoop(o)) continue;
    const key = alikeKey(o);
    const sum = sums.get(key) || {
      key,
      object: o,
      count: 0,
      open: 0,
      stuck: 0,
      life: 0,
    };
    ++sum.count;
    if (isStuck(o))
      sum.stuck = Math.max(sum.stuck, objects.end[o] - standingOf(o).since);
    sum.open += Number(objects.state[o] === ST.open);
    sum.life += endOf(o) - objects.begin[o];
    sums.set(key, sum);
  }
  const table = make(
    'table',
    {id: 'sites'},
    headRow(['Site', 'Objects', 'Still pending', 'Mean life', 'Show']),
  );
  const list = [...sums.values()].sort(
    (a, b) => b.stuck - a.stuck || b.count - a.count,
  );
  for (const sum of list.slice(0, 400))
    table.append(
      rowOf([
        [siteName(sum.object), sitePlace(sum.object)],
        countText(sum.count),
        countText(sum.open),
        clocksText(sum.life / sum.count),
        filterButtons(sum.key, siteName(sum.object)),
      ]),
    );
  panel.append(table);
}

function toggled(list, value) {
  return list.includes(value)
    ? list.filter((one) => one !== value)
    : [...list, value];
}

function filterButtons(key, name) {
  const button = (text, title, list) => {
    const one = make('button', {
      type: 'button',
      className: 'link',
      textContent: text,
      title: `${title} ${name}`,
    });
    one.setAttribute('aria-pressed', String(view[list].includes(key)));
    one.addEventListener('click', () => {
      view[list] = toggled(view[list], key);
      changed('items');
      showPanel();
    });
    return one;
  };
  return [
    button(
      view.hidden.includes(key) ? 'show' : 'hide',
      'Hide or show',
      'hidden',
    ),
    ' ',
    button(view.only.includes(key) ? 'all' : 'only', 'Only', 'only'),
  ];
}

// The objects that are drawn, and of groups all members.
function shownObjects() {
  const list = [];
  for (let i = 0; i < items.count; ++i)
    if (items.group[i] >= 0) list.push(...groups[items.group[i]].shown);
    else list.push(items.object[i]);
  if (!view.range) return list;
  const [from, to] = view.range;
  return list.filter((o) => model.objects.begin[o] < to && endOf(o) >= from);
}

function showLate(panel) {
  const table = make(
    'table',
    {id: 'late'},
    headRow(['Objects', 'Running', 'Ready', 'Waiting', 'Stolen', 'Still']),
  );
  panel.append(
    make('p', {
      textContent:
        'What objects did with their lives, by site. Ready: they could have ' +
        'run, and something else held the loop. Choose an object to see ' +
        'what. Still: how long one that has not ended has been waiting, ' +
        'ready or ' +
        'pending in the end; such sites come first.',
    }),
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

// When an object that an interrupt left work to ran after it.
function ranAfter(object, time) {
  const {spans} = model;
  let ran = -1;
  each(by.span, object, (i) => {
    if (ran < 0 && spans.state[i] === SPAN.run && spans.begin[i] >= time)
      ran = spans.begin[i];
  });
  return ran;
}

function showInterrupts(panel) {
  const {irqs} = model,
    vectors = new Map();
  for (let i = 0; i < irqs.count; ++i) {
    const sum = vectors.get(irqs.vector[i]) || {
      count: 0,
      handled: [],
      ran: [],
    };
    ++sum.count;
    if (irqs.end[i] >= 0) sum.handled.push(irqs.end[i] - irqs.begin[i]);
    const ran = irqs.to[i] ? ranAfter(irqs.to[i], irqs.deferred[i]) : -1;
    if (ran >= 0) sum.ran.push(ran - irqs.begin[i]);
    vectors.set(irqs.vector[i], sum);
  }
  const table = make(
    'table',
    {id: 'vectors'},
    headRow(['Interrupt', 'Count', 'Handled in', 'p99', 'Ran after', 'p99']),
  );
  for (const [vector, sum] of [...vectors].sort((a, b) => a[0] - b[0])) {
    const handled = Float64Array.from(sum.handled).sort(),
      ran = Float64Array.from(sum.ran).sort();
    const of = (times, part) =>
      times.length ? clocksText(percentile(times, part)) : '–';
    table.append(
      rowOf([
        'vector ' + vector,
        countText(sum.count),
        of(handled, 0.5),
        of(handled, 0.99),
        of(ran, 0.5),
        of(ran, 0.99),
      ]),
    );
  }
  panel.append(
    make('p', {
      textContent:
        'From the interrupt to the end of its handler, and to the task or ' +
        'callback that it left its work to.',
    }),
    irqs.count ? table : make('p', {textContent: 'The trace has none.'}),
    ...latestIrqs(),
  );
}

// The interrupts in sight, one by one.
function latestIrqs() {
  const {irqs} = model,
    table = make(
      'table',
      {id: 'irqs'},
      headRow(['Time', 'Vector', 'Handled in', 'Led to', 'After']),
    );
  let n = 0;
  for (let i = firstAtLeast(irqs.begin, view.from); i < irqs.count; ++i) {
    if (irqs.begin[i] > view.to || ++n > 100) break;
    const to = irqs.to[i],
      ran = to ? ranAfter(to, irqs.deferred[i]) : -1;
    table.append(
      rowOf([
        timeText(irqs.begin[i]),
        String(irqs.vector[i]),
        irqs.end[i] < 0 ? '–' : clocksText(irqs.end[i] - irqs.begin[i]),
        objectLink(to),
        ran < 0 ? '–' : clocksText(ran - irqs.begin[i]),
      ]),
    );
  }
  return n ? [make('h3', {textContent: 'In sight'}), table] : [];
}
