// SPDX-License-Identifier: Apache-2.0
// What a group's row shows: how many of its objects there are at each time, and
// how long they lived. It is worked out when the row is first painted.

// How many intervals hold a time, from their beginnings and ends, each sorted.
class Curve {
  constructor(begins, ends) {
    this.begins = Float64Array.from(begins).sort();
    this.ends = Float64Array.from(ends).sort();
    this.begun = sumsOf(this.begins);
    this.ended = sumsOf(this.ends);
  }

  at(time) {
    return firstAtLeast(this.begins, time) - firstAtLeast(this.ends, time);
  }

  // The sum of their lengths before (time).
  before(time) {
    const n = firstAtLeast(this.begins, time),
      m = firstAtLeast(this.ends, time);
    return n * time - this.begun[n] - (m * time - this.ended[m]);
  }

  // The mean from (from) to (to). Short ones would drown in rounding.
  mean(from, to) {
    if (to - from < 16) return this.at((from + to) / 2);
    return (this.before(to) - this.before(from)) / (to - from);
  }

  most() {
    const {begins, ends} = this;
    let most = 0;
    for (let i = 0, over = 0; i < begins.length; ++i) {
      while (over < ends.length && ends[over] <= begins[i]) ++over;
      most = Math.max(most, i + 1 - over);
    }
    return most;
  }
}

function sumsOf(list) {
  const sums = new Float64Array(list.length + 1);
  for (let i = 0; i < list.length; ++i) sums[i + 1] = sums[i] + list[i];
  return sums;
}

// Stretches in which (members) are in one of the states that (lists) has.
function* collectSpans(members, lists) {
  const {spans} = model;
  for (const [n, o] of members.entries()) {
    each(by.span, o, (i) => {
      const list = lists[spans.state[i]];
      if (!list) return;
      list.begins.push(spans.begin[i]);
      list.ends.push(spans.end[i]);
    });
    if (n % 1024 === 0) yield;
  }
}

const lifeOf = (o) => Math.max(1, endOf(o) - model.objects.begin[o]);

// {all, ready, run: curves; most; isTask; byEnd: members in order of their
// ends; ends; lives: of those that ended, sorted; failed, open: how many}
function* makeBand(group) {
  const {objects} = model,
    {shown} = group,
    ready = {begins: [], ends: []},
    run = {begins: [], ends: []};
  yield* collectSpans(shown, {[SPAN.ready]: ready, [SPAN.run]: run});
  const all = new Curve(
    shown.map((o) => objects.begin[o]),
    shown.map(endOf),
  );
  yield;
  const byEnd = Uint32Array.from(shown).sort((a, b) => endOf(a) - endOf(b));
  yield;
  const ended = shown.filter((o) => objects.state[o] !== ST.open);
  return {
    all,
    ready: new Curve(ready.begins, ready.ends),
    run: new Curve(run.begins, run.ends),
    most: all.most(),
    isTask: run.begins.length > 0,
    byEnd,
    ends: Float64Array.from(byEnd, endOf),
    lives: Float64Array.from(ended, lifeOf).sort(),
    failed: shown.filter((o) => objects.state[o] === ST.failed).length,
    open: shown.length - ended.length,
    cells: null, // where lives are on the picture: {x, y, size, columns, at}
  };
}

function* bandOf(group) {
  if (!group.band) group.band = yield* makeBand(group);
  return group.band;
}

// Where the site is, for there may be several of a name.
function placeOfSite(object) {
  const {head, objects} = model,
    site = objects.site[object],
    file = site ? head.files[site] : '';
  return file ? `${file.replace(/.*\//, '')}:${head.lines[site]}` : '';
}

function factsOfBand(group, band) {
  const facts = [
      placeOfSite(group.site),
      `up to ${countText(band.most)} at once`,
    ],
    {lives} = band;
  if (lives.length)
    facts.push(
      `life p50 ${clocksText(percentile(lives, 0.5))}, ` +
        `p99 ${clocksText(percentile(lives, 0.99))}, ` +
        `longest ${clocksText(lives[lives.length - 1])}`,
    );
  if (band.failed) facts.push(`${countText(band.failed)} failed`);
  if (band.open) facts.push(`${countText(band.open)} still pending`);
  return facts.filter(Boolean);
}

// What a group does at (time), in words.
function groupAt(group, time) {
  const {band} = group;
  if (!band) return '';
  const all = band.all.at(time),
    ready = band.ready.at(time),
    run = band.run.at(time);
  const parts = [`${countText(all)} exist`];
  if (band.isTask)
    parts.push(
      `${countText(run)} run, ${countText(ready)} are ready, ` +
        `${countText(all - run - ready)} wait`,
    );
  return `At ${timeText(time)}: ${parts.join('; ')}. `;
}
