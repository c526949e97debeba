// SPDX-License-Identifier: Apache-2.0
// Colours: distinct hues of equal lightness, so that no function stands out by
// more than its width; text on them is readable in both themes.

// Of folders, the heaviest first; the rest shares the last, grey one.
const HUES = [38, 250, 150, 85, 310, 200, 12, 118, 280, 225, 60, 175, 340];
const LANGUAGE_HUES = [-1, 250, 310, 38, 85, 150];
const GREY = -1;
// Of parts of the program: far from each other, also in a timeline's bars.
const PART_HUES = {
  kernel: 250,
  service: 38,
  library: 150,
  profiler: 85,
  'user mode': 310,
};

let dark = false;
const colourCache = new Map();

// OKLCH to sRGB (Ottosson 2020), as a CSS colour.
function oklch(light, chroma, hue) {
  const angle = (hue * Math.PI) / 180;
  const a = chroma * Math.cos(angle),
    b = chroma * Math.sin(angle);
  const l = (light + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (light - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (light - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const gamma = (linear) =>
    linear <= 0.0031308 ? 12.92 * linear : 1.055 * linear ** (1 / 2.4) - 0.055;
  const byte = (linear) =>
    Math.round(255 * Math.min(1, Math.max(0, gamma(linear))));
  return (
    'rgb(' +
    `${byte(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s)},` +
    `${byte(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s)},` +
    `${byte(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s)})`
  );
}

// A fill of a hue; (shade), -1 to 1, sets neighbours apart; (strength) 0 to 1.
function fillOf(hue, shade, strength) {
  const key =
    hue * 1e4 +
    Math.round(shade * 10) * 200 +
    Math.round(strength * 50) +
    (dark ? 1e7 : 0);
  let colour = colourCache.get(key);
  if (colour === undefined) {
    const chroma = hue === GREY ? 0.012 : (dark ? 0.1 : 0.105) * strength;
    const light = dark ? 0.43 + 0.045 * shade : 0.835 + 0.035 * shade;
    const deeper = dark ? 0.06 * strength : -0.05 * strength;
    colour = oklch(light + deeper, chroma, hue === GREY ? 260 : hue);
    colourCache.set(key, colour);
  }
  return colour;
}

// Categories: what functions have in common, by folder or by language.
const categories = {list: [], ofFunction: null, mode: ''};

const isPseudo = (f) => /^\[.*\]$/.test(data.functions.names[f]);

// Where no folder is known at all, as of a list of symbols: the first word of
// the name, which functions of one part of a program often share.
function wordOf(f) {
  const {folders, names} = data.functions;
  categories.noFolders ??= !folders.some((folder) => folder);
  return categories.noFolders && !names[f].startsWith('0x')
    ? names[f].match(/^_*([\p{L}\d]*)/u)[1]
    : '';
}

function keyOf(f, mode) {
  if (mode === 'part' && data.functions.part[f])
    return data.head.parts[data.functions.part[f]];
  if (isPseudo(f) && !data.head.waits) return '';
  if (mode === 'language')
    return data.head.languages[data.functions.language[f]] || 'unknown';
  if (mode === 'part') return 'unknown';
  return data.functions.folders[f] || wordOf(f) || 'unknown';
}

// Samples of each function itself, in all of the time.
function selfOfAll() {
  const {func} = data.tree,
    self = new Float64Array(data.functions.count);
  wholeSums.samples.forEach((samples, s) => {
    const f = func[data.stackNode[s]];
    if (f >= 0) self[f] += samples;
  });
  return self;
}

function sortCategories(mode) {
  const sums = new Map(),
    self = selfOfAll();
  for (let f = 0; f < data.functions.count; ++f) {
    const key = keyOf(f, mode);
    sums.set(key, (sums.get(key) || 0) + self[f]);
  }
  sums.delete('');
  return [...sums].sort((a, b) => b[1] - a[1]).map(([name]) => name);
}

function hueOfCategory(name, place, mode) {
  if (name === 'unknown') return GREY;
  if (mode === 'language')
    return LANGUAGE_HUES[data.head.languages.indexOf(name)];
  if (mode === 'part') return PART_HUES[name] ?? 200;
  return place < HUES.length ? HUES[place] : GREY;
}

// Once for each mode, by the weights of all samples: colours do not change
// when the range does. The last category is for what is not a function.
function makeCategories(mode) {
  const names = sortCategories(mode),
    numbers = new Map();
  categories.mode = mode;
  categories.list = names.map((name, i) => ({
    name,
    hue: hueOfCategory(name, i, mode),
  }));
  names.forEach((name, i) => numbers.set(name, i));
  categories.list.push({name: 'not a function', hue: GREY});
  categories.ofFunction = new Uint16Array(data.functions.count);
  for (let f = 0; f < data.functions.count; ++f)
    categories.ofFunction[f] = numbers.get(keyOf(f, mode)) ?? names.length;
}

// -1 to 1, by the function's name.
function shadeOf(f) {
  const name = data.functions.names[f];
  let hash = name.length;
  for (let i = 0; i < name.length && i < 200; ++i)
    hash = (hash * 31 + name.charCodeAt(i)) | 0;
  return (((hash >>> 7) % 5) - 2) / 2;
}

const shades = [];

function shadeOfFunction(f) {
  shades[f] ??= shadeOf(f);
  return shades[f];
}

const noChange = () => fillOf(GREY, 0.4, 1);
const exitsFill = (part) =>
  part === 0 ? noChange() : fillOf(35, 0.6 - part, 0.25 + 0.75 * part);
const changeFill = (hue, strength) =>
  fillOf(hue, 0.5 - strength, strength * 1.3);

// Red is more, blue is less, grey is not significant.
function changeColour(total, base) {
  const change = changeOf(total, base);
  if (!change.sure) return noChange();
  const times = Math.log2((change.part + 1e-4) / (change.before + 1e-4));
  const strength = Math.min(1, 0.35 + Math.abs(times) / 2);
  return changeFill(change.by > 0 ? 25 : 255, strength);
}

function colourOf(tree, node) {
  const f = tree.func[node];
  if (view.colour === 'exits')
    return exitsFill(tree.exits[node] / (tree.total[node] || 1));
  if (view.colour === 'change')
    return changeColour(tree.total[node], tree.base[node]);
  if (view.colour === 'sides') return sidesColour(tree, node);
  if (f < 0) return fillOf(GREY, 0.6, 1);
  const {hue} = categories.list[categories.ofFunction[f]];
  const shade = shadeOfFunction(f);
  // siblings differ a little in hue as well
  const turned = hue + 9 * (1 - 2 * Math.abs(shade));
  return fillOf(hue === GREY ? GREY : turned, shade, 1);
}

const palette = {};
const PALETTE = [
  ...['ink', 'soft', 'line', 'panel', 'accent', 'bad', 'found', 'stolen'],
];

function readTheme() {
  for (const name of PALETTE) palette[name] = colourOfTheme(`--${name}`);
  const set = document.documentElement.dataset.theme;
  dark = set
    ? set === 'dark'
    : matchMedia('(prefers-color-scheme: dark)').matches;
}
