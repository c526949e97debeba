// SPDX-License-Identifier: Apache-2.0
// What is in the files: nothing from elsewhere, not much, and well-formed.
'use strict';

const {execFileSync} = require('node:child_process');
const {statSync} = require('node:fs');
const path = require('node:path');
const {test} = require('./tap.js');
const {
  assert,
  closePage,
  foldedOf,
  image,
  openPage,
  parasite,
  read,
  work,
} = require('./browser.js');

const CODE_BYTES_MAX = 120000,
  PAGE_BYTES_MAX = 500000;

async function pages() {
  await test('the page names no address and forbids all of them', () => {
    const page = read('made.html').replace(/>[A-Za-z0-9+/=]{1000,}</, '><');
    assert.doesNotMatch(page, /https?:|\/\/[a-z]+\.[a-z]/i);
    assert.match(page, /default-src 'none'/);
    assert.doesNotMatch(page, /connect-src|@import|url\((?!['"]?data:)/);
  });
  await test('its code is under 120 KB', () => {
    const code = path.join(path.dirname(parasite), 'pages/flame.html');
    const bytes = statSync(code).size;
    console.log(`# ${bytes} bytes`);
    assert(bytes < CODE_BYTES_MAX);
  });
  await test('10 s at 1 kHz of a thousand stacks are under 500 KB', () => {
    const bytes = statSync(path.join(work, 'ten.html')).size;
    console.log(`# ${bytes} bytes`);
    assert(bytes < PAGE_BYTES_MAX);
  });
  await test('the same trace makes the same page', () => {
    const again = path.join(work, 'again.html');
    execFileSync(
      parasite,
      ['flame', '-q', '-k', image, path.join(work, 'made.trace'), '-o', again],
      {stdio: 'ignore'},
    );
    const [one, other] = [read('clocks.html'), read('again.html')];
    assert(one === other);
  });
}

// An SVG as a browser's XML parser sees it.
async function svgOf(page, name) {
  return page.evaluate((source) => {
    const file = new DOMParser().parseFromString(source, 'image/svg+xml');
    const boxes = [...file.querySelectorAll('g')].map((box) => ({
      title: box.querySelector('title')?.textContent || '',
      width: Number(box.querySelector('rect').getAttribute('width')),
      kind: box.querySelector('rect').getAttribute('class'),
    }));
    return {
      error: file.querySelector('parsererror')?.textContent,
      boxes,
      scripts: file.querySelectorAll('script').length,
    };
  }, read(name));
}

async function pictures() {
  const page = await openPage('made.html');
  await test('--svg draws each stack with its share', async () => {
    const {error, boxes, scripts} = await svgOf(page, 'made.svg');
    assert.strictEqual(error, undefined);
    assert.strictEqual(scripts, 0);
    const all = foldedOf('made.trace').reduce((sum, [, one]) => sum + one, 0);
    const work400 = boxes.find(({title}) => title.startsWith('work:'));
    assert.strictEqual(work400.title, 'work: 20.46 %, 400 samples');
    assert(Math.abs(work400.width + 1 - (1180 * 400) / all) < 0.2);
    assert(
      boxes.some(({title}) =>
        title.startsWith('</script><script>document.title=1</script>:'),
      ),
    );
    assert(boxes.some(({title}) => title.startsWith('größe_日本語_🔥:')));
  });
  await test('--svg names what it counts', async () => {
    assert.match(read('made.svg'), />shares of samples; 1,955 samples, /);
    assert.match(read('clocks.svg'), />shares of time; 1,955 samples, /);
  });
  await test('a title may be any bytes', async () => {
    assert.strictEqual((await svgOf(page, 'bad.svg')).error, undefined);
    const bad = await openPage('bad.html');
    assert.match(await bad.title(), /^no\ufffd <UTF-8> &/);
    assert.deepStrictEqual(bad.problems, []);
    await closePage(bad);
  });
  await test('--svg --diff is red, blue and grey', async () => {
    const kindOf = async (name) =>
      (await svgOf(page, name)).boxes.find(({title}) =>
        title.startsWith('work:'),
      ).kind;
    assert.match(await kindOf('more.svg'), /^m[123]$/);
    assert.match(await kindOf('less.svg'), /^l[123]$/);
    assert.strictEqual(await kindOf('same.svg'), 'g');
  });
  await closePage(page);
}

async function commands() {
  const ends = (code, ...words) => {
    try {
      execFileSync(parasite, ['flame', ...words], {stdio: 'pipe', cwd: work});
      assert.strictEqual(0, code);
    } catch (error) {
      assert.strictEqual(error.status, code, String(error.stderr));
    }
  };
  await test('mistakes end with one line and their code', () => {
    ends(1, 'nothing.trace');
    ends(1, 'made.trace', '-o', 'no/such/folder.html');
    ends(1, '--diff', 'nothing.trace', 'made.trace');
    ends(1, '-X', '.', 'made.trace', '-o', 'empty.html');
    ends(2, '--exits', '(', 'made.trace');
    ends(2, '--nothing');
  });
  await test('the page goes to stdout as well', () => {
    const page = execFileSync(
      parasite,
      ['flame', '-q', '-k', image, '-o', '-', path.join(work, 'made.trace')],
      {encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore']},
    );
    assert(page === read('clocks.html'));
  });
}

// The legend's items, by folder or by language.
async function legendOf(name, colour) {
  const page = await openPage(`${name}#c=${colour}`);
  const items = await page.$$eval('#legend li', (list) =>
    list.map((item) =>
      item.title ? item.title.split('\n') : [item.textContent],
    ),
  );
  await closePage(page);
  return items.flat();
}

async function sources() {
  for (const width of ['i386', 'x86_64'])
    await test(`folders and languages are of the ${width} image`, async () => {
      const folders = await legendOf(width + '.html', 'folder');
      for (const folder of [
        'kernel',
        'drivers',
        'profiler/sample',
        'profiler/aggregate',
        'services/lua',
        'build/source/lua5.4/src',
        'arch/x86/' + width,
      ])
        assert(folders.includes(folder), `${folder}: ${folders}`);
      assert(!folders.some((folder) => folder.startsWith('/')), folders);
      const languages = await legendOf(width + '.html', 'language');
      for (const language of ['C', 'assembly'])
        assert(languages.includes(language), `${languages}`);
    });
  await test('parts are those of the guest, and user mode', async () => {
    const parts = await legendOf('parts.html', 'part');
    for (const part of [
      ...['kernel', 'library', 'profiler', 'service', 'user mode'],
    ])
      assert(parts.includes(part), `${part}: ${parts}`);
    const kernel = await openPage('parts.html#c=part&s=%5Eloop_&f=loop_run');
    assert.strictEqual(await kernel.inputValue('#colour'), 'part');
    await closePage(kernel);
  });
  await test('the folder that all share has its own name', async () => {
    const folders = await legendOf('project.html', 'folder');
    assert.deepStrictEqual(folders.slice(0, 2).sort(), ['lib', 'project']);
  });
  await test('mangling identifies languages if DWARF does not', async () => {
    const languages = await legendOf('tongues.html', 'language');
    for (const language of ['C++', 'Rust', 'OCaml'])
      assert(languages.includes(language), `${languages}`);
    assert(!languages.includes('C'));
  });
}

module.exports = async () => {
  await sources();
  await pages();
  await pictures();
  await commands();
};
