// SPDX-License-Identifier: Apache-2.0
// The page of causal profiling and Coz's viewer, in Chromium without a window.
// usage: node pages.js FOLDER - PARASITE VIEWER; pictures stay in FOLDER
'use strict';

const path = require('node:path');
const {
  assert,
  closePage,
  onPage,
  openPage,
  read,
  drive,
  withPage,
  work,
} = require('../pages/browser.js');
const {fitsEverywhere} = require('../pages/boxes.js');
const {test} = require('../pages/tap.js');

const viewer = path.resolve(process.argv[5]);
const data = JSON.parse(read('causal.json'));
const SIZE = {width: 1100, height: 800};
const PHONE = {width: 360, height: 740};

const titles = (page) => page.locator('.card h2').allTextContents();

async function cardsAreSorted(page) {
  const {curves} = data.points[0];
  assert.deepStrictEqual(
    await titles(page),
    curves.map((curve) => curve.target),
  );
  assert.deepStrictEqual(
    await page.locator('.card .why').allTextContents(),
    curves.map((curve) => curve.explanation),
  );
  assert.deepStrictEqual(
    await page.locator('#notes li:not(.none)').allTextContents(),
    data.notes,
  );
  assert.deepStrictEqual(
    await page.locator('#notes .none').allTextContents(),
    data.points.map(({point, none}) => {
      const [gain, interval] = [none.gain, none.interval].map(
        (part) => (100 * part).toFixed(2).replace('-', '\u2212') + ' %',
      );
      const what = `A/A: where nothing is faster, ${point} gains`;
      return `${what} ${gain} \u00b1 ${interval}`;
    }),
  );
  assert.strictEqual(await page.locator('.card svg .bend').count(), 1);
}

// Dots are where the gains are, by the scale that the lines of the grid show.
async function dotsAreTheGains(page) {
  const cards = await page.evaluate(() =>
    [...document.querySelectorAll('.card')].map((card) => ({
      ...Object.fromEntries(
        ['x1', 'x2', 'y1'].map((name) => [
          name,
          Number(card.querySelector('.zero').getAttribute(name)),
        ]),
      ),
      dots: [...card.querySelectorAll('.dot')].map((dot) => [
        Number(dot.getAttribute('cx')),
        Number(dot.getAttribute('cy')),
      ]),
    })),
  );
  const {curves} = data.points[0];
  const scales = [];
  cards.forEach(({x1, x2, y1, dots}, i) => {
    const {values} = data.latencies[0].targets[curves[i].number];
    assert.strictEqual(
      dots.length,
      curves[i].values.length + 2 * values.length,
    );
    dots.slice(0, curves[i].values.length).forEach(([x, y], j) => {
      const {speedup, gain} = curves[i].values[j];
      assert(Math.abs(x - x1 - speedup * (x2 - x1)) < 0.01, `x ${x}`);
      if (gain > 0.05) scales.push((y1 - y) / gain);
    });
  });
  assert(scales.length >= 5);
  for (const scale of scales) assert(Math.abs(scale - scales[0]) < 0.01);
}

// Dots of both quantiles by one scale, and the band around them.
async function latenciesAreDrawn(page) {
  const cards = await page.evaluate(() =>
    [...document.querySelectorAll('.card')].map((card) => {
      const dots = [...card.querySelectorAll('.dot50, .dot99')];
      return {
        title: card.querySelector('h3')?.textContent,
        zero: Number(
          dots[0]?.parentNode.querySelector('.zero').getAttribute('y1'),
        ),
        bands: card.querySelectorAll('.band50, .band99').length,
        dots: dots.map((dot) => [
          dot.latency[`p${dot.quantile}_ns`],
          Number(dot.getAttribute('cy')),
        ]),
      };
    }),
  );
  const scales = [];
  cards.forEach(({title, zero, bands, dots}, i) => {
    const {number} = data.points[0].curves[i];
    const {values} = data.latencies[0].targets[number];
    assert.strictEqual(dots.length, 2 * values.length);
    assert.strictEqual(bands, values.length ? 2 : 0);
    if (values.length) assert.strictEqual(title, 'How long requests take');
    dots.forEach(([ns, y], j) => {
      const value = values[j % values.length];
      assert.strictEqual(ns, j < values.length ? value.p50_ns : value.p99_ns);
      scales.push((zero - y) / ns);
    });
  });
  assert.strictEqual(scales.length, 24);
  for (const scale of scales) assert(Math.abs(scale / scales[0] - 1) < 1e-6);
  await page.locator('.dot99 >> nth=3').hover();
  const tip = await page.textContent('#tip');
  assert(/99 % of requests take less than .* ms/.test(tip), tip);
}

async function keysWalk(page) {
  await page.keys('j', 'ArrowRight', 'ArrowRight');
  const {target, values} = data.points[0].curves[0];
  const tip = await page.textContent('#tip');
  assert(tip.startsWith(`${target}, 50 % faster:`), tip);
  assert(tip.includes(`${(100 * values[1].gain).toFixed(2)} %`), tip);
  await page.keyboard.press('Escape');
  assert(await page.isHidden('#tip'));
  await page.keyboard.press(']');
  const pressed = page.locator('#points [aria-pressed=true]');
  assert.strictEqual(await pressed.textContent(), data.points[1].point);
  await page.keyboard.press('s');
  const scale = page.locator('#scale[aria-pressed=true]');
  assert.strictEqual(await scale.count(), 1);
  await page.keyboard.press('/');
  await page.keyboard.type('parse');
  assert.strictEqual((await titles(page)).length, 1);
  await page.keyboard.press('Escape');
  await page.keyboard.press('?');
  assert(await page.isVisible('#help'));
}

async function pointerShowsDetails(page) {
  const dot = page.locator('.card >> nth=1').locator('.dot >> nth=2');
  await dot.hover();
  const tip = await page.textContent('#tip');
  const {target} = data.points[0].curves[1];
  assert(tip.startsWith(`${target}, 95 % faster:`), tip);
}

async function themesDiffer() {
  const seen = new Set();
  for (const scheme of ['light', 'dark']) {
    const look = async (page) => {
      await page.keys('j', 'ArrowRight');
      await page.pictured(`causal-${scheme}`);
      seen.add(
        await page.evaluate(
          () => getComputedStyle(document.body).backgroundColor,
        ),
      );
    };
    await withPage('causal.html', {scheme}, look);
  }
  assert.strictEqual(seen.size, 2);
}

// Also with long names and curves that are near to each other; in both forms.
async function nothingIsCropped() {
  for (const name of ['causal', 'wide'])
    await withPage(`${name}.html`, {}, async (page) => {
      const toADot = () => page.keys('j', 'ArrowRight', 'ArrowRight');
      await fitsEverywhere(page, name, toADot);
      await page.keyboard.press('s');
      await fitsEverywhere(page, `${name}-own`, toADot);
      await page.keyboard.press('Escape');
      await page.keyboard.press('?');
      await fitsEverywhere(page, `${name}-help`, () => {});
    });
}

async function fitsAPhone(page) {
  const wide = await page.evaluate(
    () => document.documentElement.scrollWidth > innerWidth,
  );
  assert(!wide, 'it can be scrolled sideways');
}

// ---- Coz's own viewer

async function loaded() {
  const index = path.join(viewer, 'index.htm');
  const page = await openPage(index, {isStatic: true, size: SIZE});
  await page.click('#load-profile-btn');
  await page.setInputFiles(
    '#load-profile-file',
    path.join(work, 'profile.coz'),
  );
  await page.waitForSelector('#load-profile-open-btn:not(.disabled)');
  await page.evaluate(() => {
    document.getElementById('minpoints_field').value = 3;
  });
  await page.evaluate(() =>
    document.getElementById('load-profile-open-btn').click(),
  );
  await page.waitForSelector('div.plot circle', {state: 'attached'});
  await page.evaluate(() =>
    document
      .getElementById('minpoints_field')
      .dispatchEvent(new Event('input')),
  );
  return page;
}

async function cozShowsTheGains() {
  const page = await loaded();
  const plots = await page.evaluate(() =>
    [...document.querySelectorAll('div.plot')].map((plot) => ({
      name: plot.__data__.name,
      series: [...plot.querySelectorAll('g.series')].map((series) => ({
        name: series.__data__.name,
        line: series.querySelector('path').getAttribute('d'),
        points: [...series.querySelectorAll('circle')].map(
          (circle) => circle.__data__,
        ),
      })),
    })),
  );
  assert.strictEqual(plots.length, data.points[0].curves.length);
  for (const {point, curves} of data.points)
    for (const {target, values} of curves) {
      const {series} = plots.find((plot) => plot.name === target);
      const {points, line} = series.find(({name}) => name === point);
      assert.strictEqual(points.length, values.length + 1);
      assert(line.length > 20, line);
      values.forEach(({speedup, gain}, i) => {
        assert(Math.abs(points[i + 1].speedup - speedup) < 0.01);
        assert(Math.abs(points[i + 1].progress_speedup - gain) < 1e-4);
      });
    }
  // Coz draws what makes requests shorter downwards
  for (const {target, values} of data.latencies[0].targets) {
    if (!values.length) continue;
    const {series} = plots.find((plot) => plot.name === target);
    const {points} = series.find(({name}) => name === 'latency of requests');
    assert.strictEqual(points.length, values.length);
    values.forEach(({mean_ns: mean}, i) => {
      const gain = 1 - mean / values[0].mean_ns;
      assert(Math.abs(points[i].progress_speedup + gain) < 1e-4, target);
    });
  }
  const warnings = await page.locator('#warning-area .alert').allTextContents();
  assert.deepStrictEqual(warnings, []);
  await page.waitForTimeout(700); // plots move to their places
  await page.screenshot({path: path.join(work, 'coz.png')});
  await closePage(page);
}

const ours = (what, check, size = SIZE) =>
  onPage(what, 'causal.html', {size}, check);

drive(async () => {
  await ours('cards are sorted, and say why', cardsAreSorted);
  await ours('dots are where the gains are', dotsAreTheGains);
  await ours('latencies are next to the gains', latenciesAreDrawn);
  await ours('keys walk through targets and speed-ups', keysWalk);
  await ours('details are shown under the pointer', pointerShowsDetails);
  await test('both themes are drawn', themesDiffer);
  await test('nothing is cropped or overlaps', nothingIsCropped);
  await ours('the page fits a small screen', fitsAPhone, PHONE);
  await test("Coz's viewer shows the same gains", cozShowsTheGains);
});
