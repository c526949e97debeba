// SPDX-License-Identifier: Apache-2.0
'use strict';
{
const TASKS_EDGE_KIND = {"create":0,"read":1,"try_read":2,"resolve":3,"fail":4,"cancel":5,"signal":6,"wake":7,"become":8,"defer":9};
const TASKS_STATE = {"pending":0,"running":1,"paused":2,"waiting":3,"ready":4,"ended":5,"unknown":6};
async function bytesOf(text) {
if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
const piece = 1 << 20,
bytes = new Uint8Array(((text.length * 3) / 4) | 0);
let used = 0;
for (let at = 0; at < text.length; at += piece) {
const part = atob(text.slice(at, at + piece));
for (let i = 0; i < part.length; ++i) bytes[used++] = part.charCodeAt(i);
await pause();
}
return bytes.subarray(0, used);
}
const pause = () => new Promise((go) => setTimeout(go));
async function unpacked(bytes) {
const stream = new Blob([bytes])
.stream()
.pipeThrough(new DecompressionStream('gzip'));
return new Uint8Array(await new Response(stream).arrayBuffer());
}
function varints(bytes, count) {
const numbers = new Float64Array(count);
for (let i = 0, at = 0; i < count; ++i) {
let byte = bytes[at++],
number = byte & 127,
unit = 128;
while (byte > 127) {
byte = bytes[at++];
number += (byte & 127) * unit;
unit *= 128;
}
numbers[i] = number;
}
return numbers;
}
function signed(numbers, areChanges) {
let sum = 0;
for (let i = 0; i < numbers.length; ++i) {
const number = numbers[i];
const value = number % 2 ? -(number + 1) / 2 : number / 2;
sum = areChanges ? sum + value : value;
numbers[i] = sum;
}
return numbers;
}
function columnsOf(bytes) {
const length = new DataView(bytes.buffer).getUint32(0, true);
const utf8 = new TextDecoder();
const head = JSON.parse(utf8.decode(bytes.subarray(4, 4 + length)));
const places = new Map();
let at = 4 + length;
for (const [name, count, size] of head.columns || []) {
places.set(name, [bytes.subarray(at, at + size), count]);
at += size;
}
const raw = (name) => places.get(name)[0];
const plain = (name) => varints(...places.get(name));
return {head, raw, plain, changes: (name) => signed(plain(name), true)};
}
async function readPayload() {
const element = document.getElementById('payload');
const text = element.textContent.trim();
element.textContent = '';
return columnsOf(await unpacked(await bytesOf(text)));
}
function stringsOf(columns, lengths = 'string.bytes', texts = 'text') {
const text = columns.raw(texts),
utf8 = new TextDecoder();
let at = 0;
return Array.from(columns.plain(lengths), (size) => {
at += size;
return utf8.decode(text.subarray(at - size, at));
});
}
const $ = (id) => document.getElementById(id);
function make(tag, properties, ...children) {
if (typeof properties !== 'object') properties = {textContent: properties};
const element = Object.assign(document.createElement(tag), properties);
element.append(...children);
return element;
}
function listen(element, actions) {
for (const [kind, act] of Object.entries(actions))
element.addEventListener(kind, act);
return element;
}
const button = (textContent, click, properties) =>
listen(make('button', {type: 'button', textContent, ...properties}), {click});
const factPairs = (facts) =>
facts.flatMap(([term, ...what]) => [
make('dt', term),
make('dd', {}, ...what.filter(Boolean)),
]);
const listOfFacts = (facts) => make('dl', {}, ...factPairs(facts));
const countText = (number) => Math.round(number).toLocaleString('en-US');
let counted = 'sample'; // what samplesText() counts
const samplesText = (number) =>
countText(number) + ' ' + counted + (number === 1 ? '' : 's');
function shareText(part) {
const percent = 100 * part;
if (percent === 0) return '0 %';
if (percent < 0.01) return '<0.01 %';
return percent.toFixed(percent < 10 ? 2 : 1) + ' %';
}
function secondsText(seconds, step = seconds / 100, size = seconds) {
const [unit, name] =
size >= 1 ? [1, 's'] : size >= 0.001 ? [1e3, 'ms'] : [1e6, '\u00b5s'];
const digits = step > 0 ? Math.ceil(-Math.log10(step * unit) - 1e-9) : 0;
return (
(seconds * unit).toFixed(Math.max(0, Math.min(6, digits))) + ' ' + name
);
}
function ticksOf(from, to, rough) {
const power = 10 ** Math.floor(Math.log10(rough));
const step =
power * [1, 2, 5, 10].find((times) => times * power >= rough * 0.999);
const ticks = [];
for (let i = Math.ceil(from / step); i * step <= to; ++i)
ticks.push(i * step);
return {ticks, step};
}
function showFailure(error) {
$('title').textContent = 'This page cannot be displayed';
$('facts').textContent = String(error.stack || error);
showStatic();
}
function showStatic() {
const text = document.querySelector('noscript')?.textContent ?? '',
other = new DOMParser().parseFromString(text, 'text/html'),
picture = other.querySelector('img.static');
if (!picture) return;
document.body.classList.add('failed');
document.body.append(make('p', picture.previousElementSibling.textContent));
document.body.append(document.adoptNode(picture));
}
const SLICE_MS = 10;
function inSlices(work, done) {
let stopped = false;
const step = () => {
const end = performance.now() + SLICE_MS;
while (!stopped) {
const {done: over, value} = work.next();
if (over) {
stopped = true;
if (done) done(value);
} else if (performance.now() > end) {
setTimeout(step);
return;
}
}
};
step();
return () => {
stopped = true;
};
}
function perFrame(what) {
let asked = false;
return () => {
if (asked) return;
asked = true;
requestAnimationFrame(() => {
asked = false;
what();
});
};
}
function later(what, ms) {
let timer = 0;
return () => {
clearTimeout(timer);
timer = setTimeout(what, ms);
};
}
const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
function firstThat(low, high, fits) {
while (low < high) {
const middle = (low + high) >> 1;
if (fits(middle)) high = middle;
else low = middle + 1;
}
return low;
}
const firstAtLeast = (sorted, value) =>
firstThat(0, sorted.length, (i) => sorted[i] >= value);
const finished = (work) => new Promise((done) => inSlices(work, done));
function* byNumber(column, count) {
const from = new Uint32Array(count + 1);
for (let i = 0; i < column.length; ++i) ++from[column[i] + 1];
for (let o = 0; o < count; ++o) from[o + 1] += from[o];
yield;
const next = from.slice(),
list = new Uint32Array(column.length);
for (let i = 0; i < column.length; ++i) list[next[column[i]]++] = i;
yield;
return {from, list};
}
const FEW_SAMPLES = 1000; // fewer are worth a warning
const plural = (count, one, more) =>
countText(count) + ' ' + (count === 1 ? one : more);
const counter = (one, more) => (count) => plural(count, one, more);
const CLOCK_HZ = 1e7; // PROF_CLOCK_HZ of <prof/format.h>
const LOSSES = {
missed: {
words: counter('tick missed', 'ticks missed'),
of: (side) => side.samples + side.losses.missed,
reason:
'Timer ticks that were due and never came, since interrupts were off ' +
'or the host did not run the guest',
},
dropped: {
words: counter('sample without a stack', 'samples without a stack'),
of: (side) => side.samples + side.losses.dropped,
reason: 'There was no room for them; only their time is known',
},
packets: {
words: counter('packet missing', 'packets missing'),
reason: 'Parts of the recording that never arrived',
},
discarded: {
words: counter('sample discarded', 'samples discarded'),
of: (side) => side.samples + side.losses.discarded,
reason: 'The guest could not send them in time',
},
stolen: {
words: (clocks) => secondsText(clocks / CLOCK_HZ) + ' stolen',
of: (side) => side.clocks,
reason: 'The host did not run the guest in this time',
},
own: {
words: counter('sample of the profiler', 'samples of the profiler'),
of: (side) => side.samples,
reason:
"The profiler's own time: it is in no share; the option --profiler " +
'counts it as any other',
},
};
function lossesOfSide(side) {
const notes = [];
for (const [kind, {words, of, reason}] of Object.entries(LOSSES)) {
const sum = side.losses[kind],
whole = of ? of(side) : 0;
const share = whole ? ` (${shareText(sum / whole)})` : '';
if (sum) notes.push([words(sum) + share, reason]);
}
return notes;
}
function interval(part, count, z = 1.959964) {
if (count === 0) return [0, 1];
const over = 1 + (z * z) / count;
const middle = (part + (z * z) / (2 * count)) / over;
const half =
(z / over) *
Math.sqrt((part * (1 - part)) / count + (z * z) / (4 * count * count));
return [Math.max(0, middle - half), Math.min(1, middle + half)];
}
function fewSamples(count) {
if (count >= FEW_SAMPLES) return [];
const [low, high] = interval(0.5, count);
return [
[
`Only ${samplesText(count)}: shares are accurate to ` +
`\u00b1${(50 * (high - low)).toFixed(1)} percentage points`,
'At 95 % confidence, for a function with half of the samples',
],
];
}
const FEW_ROW = 16;
const FEW_TITLE = `Fewer than ${FEW_ROW} samples: the share is a guess`;
const fewMark = (few) => (few ? '? ' : '');
function steadyNote({steady}) {
if (!steady) return [];
return [
[
'The sampling period does not vary',
'Code that runs in step with it, such as work of the kernel\u2019s ' +
'timer, has a wrong share',
],
];
}
function putNotes(notes) {
$('notes').replaceChildren(
...notes.map(([text, reason]) =>
make('span', {textContent: text, title: reason}),
),
);
}
function needCanvas() {
if (!make('canvas').getContext('2d'))
throw new Error('This browser does not let the page use a canvas');
}
function sized(canvas, width, height, scale = devicePixelRatio || 1) {
const wide = Math.round(width * scale),
high = Math.round(height * scale);
if (canvas.width !== wide || canvas.height !== high) {
canvas.width = wide;
canvas.height = high;
canvas.style.height = height + 'px';
canvas.style.width = width + 'px';
}
const context = canvas.getContext('2d');
context.setTransform(scale, 0, 0, scale, 0, 0);
context.clearRect(0, 0, width, height);
context.font = FONT;
context.textBaseline = 'middle';
return context;
}
function colourOfTheme(variable) {
const probe = $('spoken');
probe.style.color = `var(${variable})`;
const {color} = getComputedStyle(probe);
probe.style.color = '';
return color;
}
function hatch(context, colour) {
const tile = make('canvas', {width: 6, height: 6});
const pen = tile.getContext('2d');
pen.strokeStyle = colour;
pen.lineWidth = 1.6;
pen.beginPath();
for (const at of [-3, 3, 9]) {
pen.moveTo(at - 4, 10 - 4 + 0.5);
pen.lineTo(at + 4, -2 + 0.5);
}
pen.stroke();
return context.createPattern(tile, 'repeat');
}
function putTip({clientX, clientY}, ...children) {
const tip = $('tip');
tip.replaceChildren(...children);
tip.hidden = false;
const {width, height} = tip.getBoundingClientRect();
const x = Math.min(clientX + 14, innerWidth - width - 8);
const y =
clientY + 18 + height > innerHeight ? clientY - height - 12 : clientY + 18;
tip.style.left = Math.max(4, x) + 'px';
tip.style.top = Math.max(4, y) + 'px';
}
const hideTip = () => {
$('tip').hidden = true;
};
function legendItem(background, words, className = '') {
const patch = make('i', {className});
patch.style.background = background;
return make('li', {}, patch, words);
}
function listenToWheel(canvas, pan, zoom) {
const turn = (event) => {
const {deltaX, deltaY, shiftKey} = event;
event.preventDefault();
if (shiftKey || Math.abs(deltaX) > Math.abs(deltaY))
pan((deltaX || deltaY) / 600);
else zoom(Math.exp(deltaY / 400), event);
};
canvas.addEventListener('wheel', turn, {passive: false});
}
const APART_LEAST = 16; // pixels between two fingers that are counted
function listenToPinch(canvas, begin, move) {
const fingers = new Map();
let last = null, // the middle, and how far apart
isPinch = false;
const measure = () => {
const [a, b] = [...fingers.values()],
apart = Math.hypot(a.x - b.x, a.y - b.y);
return {
x: (a.x + b.x) / 2,
y: (a.y + b.y) / 2,
apart: Math.max(APART_LEAST, apart),
};
};
const place = ({clientX: x, clientY: y, pointerId}) =>
fingers.set(pointerId, {x, y});
const gone = (event) => {
if (isPinch) event.stopImmediatePropagation();
fingers.delete(event.pointerId);
last = null;
if (fingers.size === 0) isPinch = false;
};
listen(canvas, {
pointerdown: (event) => {
if (event.pointerType !== 'touch') return;
place(event);
if (fingers.size > 1) {
event.stopImmediatePropagation();
last = fingers.size === 2 ? measure() : null;
if (!isPinch) begin(last);
isPinch = true;
}
},
pointermove: (event) => {
if (!fingers.has(event.pointerId)) return;
place(event);
if (!isPinch) return;
event.stopImmediatePropagation();
if (!last) return;
const {x, y, apart} = last;
last = measure();
move({x, y, dx: last.x - x, dy: last.y - y, times: apart / last.apart});
},
pointerup: gone,
pointercancel: gone,
});
const keep = (event) => {
if (event.touches.length > 1 && event.cancelable) event.preventDefault();
};
for (const kind of ['touchstart', 'touchmove'])
canvas.addEventListener(kind, keep, {passive: false});
}
function listenToSearch(input, canvas) {
const keydown = (event) => {
if (event.key === 'Enter') nextMatch(event.shiftKey ? -1 : 1);
else if (event.key === 'Escape') {
clearSearch();
canvas.focus();
} else return;
event.preventDefault();
event.stopPropagation();
};
listen(input, {keydown, input: later(() => startSearch(input.value), 80)});
listen($('search'), {submit: (event) => event.preventDefault()});
listenToClicks({
next: () => nextMatch(1),
previous: () => nextMatch(-1),
});
}
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
const asChoice = (choices) => ({
write: String,
read: (text) => (choices.includes(text) ? text : undefined),
});
const asFlag = {
write: (flag) => (flag ? '1' : '0'),
read: (text) => text === '1',
};
const asText = {write: String, read: String};
const asRange = {
write: (range) => range.map(Math.round).join('-'),
read: (text) => {
const [from, to] = text.split('-').map(Number);
return to > from ? [from, to] : undefined;
},
};
const asListOf = (read, fits = () => true) => ({
write: (list) => list.join('.'),
read: (text) => (text === '' ? [] : text.split('.').map(read).filter(fits)),
});
const sameValue = (a, b) => JSON.stringify(a) === JSON.stringify(b);
function hashOfView() {
const parts = new URLSearchParams();
for (const [letter, [name, how]] of Object.entries(hashParts))
if (view[name] !== null && !sameValue(view[name], atStart[name]))
parts.set(letter, how.write(view[name]));
return parts.toString();
}
function readHash(hash) {
const parts = new URLSearchParams(hash.replace(/^#/, ''));
Object.assign(view, structuredClone(atStart));
for (const [letter, [name, how]] of Object.entries(hashParts)) {
const value = parts.has(letter) ? how.read(parts.get(letter)) : undefined;
if (value !== undefined) view[name] = value;
}
}
const keepHash = later(() => {
const hash = hashOfView();
if (hash !== location.hash.replace(/^#/, ''))
history.replaceState(
null,
'',
hash ? '#' + hash : location.pathname + location.search,
);
}, 150);
const keyNames = {
ArrowUp: '\u2191',
ArrowDown: '\u2193',
ArrowLeft: '\u2190',
ArrowRight: '\u2192',
' ': 'Space',
Escape: 'Esc',
};
function showHelp() {
const help = $('help');
if (!help.firstChild) fillHelp(help);
help.showModal();
}
function fillHelp(help) {
const keys = keyList.map(([names, text]) => {
const caps = names.map((name) => make('kbd', keyNames[name] || name));
const term = make('dt', {}, ...caps.flatMap((cap) => [cap, ' ']));
return make('div', {}, term, make('dd', text));
});
const close = button('Close', () => help.close());
help.append(
make('h2', {id: 'help-title', textContent: 'Keys'}),
make('dl', {className: 'keys'}, ...keys),
...helpTexts.map((text) => make('p', text)),
make('p', {}, close),
);
}
function actionOf(event) {
const typing = event.target.closest('input, select, dialog');
const pressing =
event.target.closest('button, summary') &&
['Enter', ' '].includes(event.key);
if (typing || pressing || event.ctrlKey || event.metaKey || event.altKey)
return null;
const found = keyList.find(([names]) => names.includes(event.key));
return found ? found[2] : null;
}
function listenToKeys(taken = () => false) {
document.addEventListener('keydown', (event) => {
const act = actionOf(event);
if (!act || taken(event)) return;
event.preventDefault();
act(event.key);
});
}
function listenToClicks(actions) {
for (const [id, click] of Object.entries(actions)) listen($(id), {click});
}
function listenToFilter(input) {
const keydown = ({key, target}) => {
if (key === 'Escape') target.blur();
};
listen($('filter'), {input, keydown});
}
function press(id, flag) {
$(id).setAttribute('aria-pressed', String(Boolean(flag)));
}
function download(blob, name) {
const link = make('a', {
href: URL.createObjectURL(blob),
download: name,
});
link.click();
setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
function shape(tag, attributes, ...children) {
const NS = 'http://www.w3.org/2000/svg';
const element = document.createElementNS(NS, tag);
for (const [name, value] of Object.entries(attributes))
element.setAttribute(name, value);
element.append(...children);
return element;
}
const STATES = [
'still pending',
'resolved',
'failed',
'cancelled',
'freed',
'merged',
'ended, how is unknown',
'unknown',
];
const ARROWS = [...Object.keys(TASKS_EDGE_KIND), 'failed_read', 'packet'];
const ARROW = Object.fromEntries(ARROWS.map((name, i) => [name, i]));
const arrowWords = (name) => name.replace('_', ' ');
let model = null;
const arrowNames = () =>
model.head.traces.length > 1
? ARROWS
: ARROWS.filter((name) => name !== 'packet');
const numbersOf = (Type, list) => Type.from(list);
function intervalsOf(columns, name) {
const begin = columns.changes(name + '.from'),
end = columns.plain(name + '.length');
for (let i = 0; i < begin.length; ++i) end[i] += begin[i];
return {count: begin.length, begin, end};
}
const SEEN = {creation: 1, end: 2, rests: 4};
function toSome(count, column, has) {
const all = new Float64Array(count);
for (let o = 1, at = 0; o < count; ++o) if (has(o)) all[o] = column[at++];
return all;
}
function objectsOf(columns, edges) {
const seen = columns.plain('object.seen'),
own = seen.length + 1, // the others are vectors
count = own + columns.head.vectors.length;
const of = (Type, list) => {
const all = new Type(count);
all.set(list, 1);
return all;
};
const plain = (name) => of(Int32Array, columns.plain('object.' + name));
const noCreation = (o) => o < own && !(seen[o - 1] & SEEN.creation),
noEnd = (o) => o < own && !(seen[o - 1] & SEEN.end);
const objects = {
count,
begin: toSome(count, columns.changes('object.begin'), noCreation),
end: toSome(count, columns.plain('object.life'), noEnd),
creator: toSome(count, columns.plain('object.creator'), noCreation),
type: of(Uint8Array, columns.plain('object.kind')),
state: of(Uint8Array, columns.plain('object.ending')),
trace: new Uint8Array(count),
system: new Uint8Array(count),
id: of(Int32Array, columns.changes('object.id')),
site: plain('site'),
label: plain('label'),
why: plain('why'),
become: plain('becomes'),
rests: of(
Uint8Array,
seen.map((bits) => Number((bits & SEEN.rests) > 0)),
),
};
completeObjects(objects, edges, noCreation, noEnd);
const {loops} = columns.head;
for (const [trace, loop] of loops.entries()) {
objects.system[loop] = SYSTEM.loop;
objects.system[loop + 1] = SYSTEM.nobody;
objects.trace.fill(trace, loop, loops[trace + 1] || own);
}
for (const [i, [trace, vector]] of columns.head.vectors.entries())
addVector(objects, own + i, loops[trace], vector);
return objects;
}
const SYSTEM = {loop: 1, nobody: 2, vector: 3};
function addVector(objects, o, loop, vector) {
objects.system[o] = SYSTEM.vector;
objects.id[o] = vector;
for (const name of ['begin', 'end', 'trace'])
objects[name][o] = objects[name][loop];
}
const ENDING = [ARROW.resolve, ARROW.fail, ARROW.cancel];
function completeObjects(objects, edges, noCreation, noEnd) {
for (let i = 0; i < edges.time.length; ++i) {
const o = edges.to[i];
if (edges.kind[i] !== ARROW.create || noCreation(o)) continue;
objects.begin[o] = edges.time[i];
objects.creator[o] = edges.from[i];
}
for (let o = 1; o < objects.count; ++o) objects.end[o] += objects.begin[o];
for (let i = 0; i < edges.time.length; ++i)
if (ENDING.includes(edges.kind[i]) && !noEnd(edges.to[i]))
objects.end[edges.to[i]] = edges.time[i];
}
function spansOf(columns, objects) {
const begin = columns.changes('span.from'),
length = columns.plain('span.length'),
object = numbersOf(Int32Array, columns.changes('span.object')),
until = objects.end.slice(),
end = new Float64Array(begin.length);
for (let i = begin.length - 1; i >= 0; --i) {
end[i] = length[i] ? begin[i] + length[i] - 1 : until[object[i]];
until[object[i]] = begin[i];
}
return {
count: begin.length,
begin,
end,
object,
state: numbersOf(Uint8Array, columns.plain('span.state')),
what: numbersOf(Int32Array, columns.plain('span.other')),
why: numbersOf(Int32Array, columns.plain('span.why')),
stack: numbersOf(Int32Array, columns.plain('span.stack')),
};
}
function edgesOf(columns) {
return {
time: columns.changes('edge.time'),
kind: numbersOf(Uint8Array, columns.plain('edge.kind')),
from: numbersOf(Int32Array, columns.changes('edge.from')),
to: numbersOf(Int32Array, columns.changes('edge.to')),
by: numbersOf(Int32Array, columns.plain('edge.by')),
};
}
function arrowsOf(edges, objects, irqs) {
const count = edges.time.length;
const arrows = {
count,
type: edges.kind.slice(),
from: edges.from.slice(),
to: edges.to.slice(),
begin: edges.time.slice(),
end: edges.time.slice(),
};
for (let i = 0; i < count; ++i) {
const kind = edges.kind[i];
if (kind === ARROW.read) {
const source = edges.to[i];
[arrows.from[i], arrows.to[i]] = [source, edges.from[i]];
if (objects.state[source] !== 0)
arrows.begin[i] = Math.min(objects.end[source], edges.time[i]);
if (objects.state[source] === 2)
arrows.type[i] = ARROW.failed_read;
} else if (edges.by[i]) {
arrows.from[i] = edges.by[i];
}
}
lengthenDefers(arrows, irqs);
return arrows;
}
function lengthenDefers(arrows, irqs) {
const ran = new Map();
arrows.late = new Uint8Array(arrows.count);
for (let i = 0; i < irqs.count; ++i)
if (irqs.ran[i] >= 0)
ran.set(
`${irqs.vector[i]} ${irqs.deferred[i]} ${irqs.to[i]}`,
irqs.ran[i],
);
if (!ran.size) return;
for (let i = 0; i < arrows.count; ++i) {
if (arrows.type[i] !== ARROW.defer) continue;
const end = ran.get(`${arrows.from[i]} ${arrows.begin[i]} ${arrows.to[i]}`);
if (end === undefined) continue;
arrows.end[i] = end;
arrows.late[i] = 1;
}
}
const packetsOf = (columns) => ({
type: ARROW.packet,
begin: columns.changes('packet.sent'),
end: columns.changes('packet.received'),
from: columns.changes('packet.from'),
to: columns.changes('packet.to'),
});
function wakesOf({head, objects, irqs}) {
const wakes = {type: ARROW.wake, begin: [], end: [], from: [], to: []};
for (let i = 0; i < irqs.count; ++i) {
if (irqs.woke[i] < 0) continue;
wakes.begin.push(irqs.begin[i]);
wakes.end.push(irqs.woke[i]);
wakes.from.push(irqs.vector[i]);
wakes.to.push(head.loops[objects.trace[irqs.vector[i]]]);
}
return wakes;
}
function withArrows(arrows, others) {
const lists = ['begin', 'end', 'from', 'to'],
count = others.reduce((sum, {end}) => sum + end.length, arrows.count),
all = {count, type: new Uint8Array(count)};
all.type.set(arrows.type);
for (const name of lists) {
all[name] = new arrows[name].constructor(count);
all[name].set(arrows[name]);
}
let at = arrows.count;
for (const other of others) {
for (const name of lists) all[name].set(other[name], at);
all.type.fill(other.type, at, at + other.end.length);
at += other.end.length;
}
const order = orderOfEnds(all.end, arrows);
for (const name of ['type', ...lists])
all[name] = all[name].map((_, i, list) => list[order[i]]);
return all;
}
function orderOfEnds(end, {count, late}) {
const byEnd = (a, b) => end[a] - end[b] || a - b,
order = new Uint32Array(end.length),
others = [];
let kept = 0;
for (let i = 0; i < end.length; ++i) {
if (i >= count || late[i] || (kept && end[order[kept - 1]] > end[i]))
others.push(i);
else order[kept++] = i;
}
others.sort(byEnd);
for (let at = order.length - 1; others.length; --at)
order[at] =
kept && byEnd(order[kept - 1], others.at(-1)) > 0
? order[--kept]
: others.pop();
return order;
}
function stepsOf(columns) {
const time = columns.changes('counter.time'),
name = columns.plain('counter.name'),
value = signed(columns.plain('counter.value'), false),
object = numbersOf(Int32Array, columns.plain('counter.object')),
before = new Float64Array(time.length),
last = new Map();
for (let i = 0; i < time.length; ++i) {
before[i] = last.get(name[i]) || 0;
last.set(name[i], value[i]);
}
return {count: time.length, time, name, value, before, object};
}
function countersOf(columns, {count, time, name, value}) {
const trace = columns.plain('counter.trace'),
series = new Map();
for (let i = 0; i < count; ++i) {
if (!series.has(name[i]))
series.set(name[i], {time: [], value: [], trace: trace[i]});
series.get(name[i]).time.push(time[i]);
series.get(name[i]).value.push(value[i]);
}
const texts = new Map();
for (const [key, one] of series) {
one.count = one.time.length;
one.text = columns.head.names[key];
if (!texts.has(one.text)) texts.set(one.text, texts.size);
one.number = texts.get(one.text);
}
return series;
}
function irqsOf(columns) {
const irqs = {
...intervalsOf(columns, 'irq'),
vector: columns.plain('irq.vector'),
in: columns.plain('irq.in'),
to: columns.plain('irq.to'),
deferred: columns.plain('irq.deferred'),
ran: columns.plain('irq.ran'),
woke: columns.plain('irq.woke'),
};
for (const times of [irqs.deferred, irqs.ran, irqs.woke])
for (let i = 0; i < irqs.count; ++i)
times[i] = times[i] ? irqs.begin[i] + times[i] - 1 : -1;
return columns.head.traces.length > 1 ? sortedByBegin(irqs) : irqs;
}
function sortedByBegin({count, ...lists}) {
const order = Uint32Array.from(lists.begin.keys()).sort(
(a, b) => lists.begin[a] - lists.begin[b] || a - b,
);
const sorted = {count};
for (const [name, list] of Object.entries(lists))
sorted[name] = list.map((_, i) => list[order[i]]);
return sorted;
}
function byTrace({head}, intervals, traceOf) {
const lists = head.traces.map(() => ({count: 0, begin: [], end: []}));
for (let i = 0; i < intervals.count; ++i) {
const list = lists[traceOf(i)];
if (!list) continue;
list.begin.push(intervals.begin[i]);
list.end.push(intervals.end[i]);
++list.count;
}
return lists;
}
function intervalsByTrace(columns, name) {
const traces = columns.plain(name + '.trace');
return byTrace(columns, intervalsOf(columns, name), (i) => traces[i]);
}
function idlesOf({head, objects, spans}) {
const isIdle = (i) =>
spans.state[i] === 3 && isLoop(spans.object[i]);
const traceOf = (i) => (isIdle(i) ? objects.trace[spans.object[i]] : -1);
return byTrace({head}, spans, traceOf);
}
async function loadModel(columns) {
const {head} = columns;
const texts = stringsOf(columns, 'word.bytes', 'word.text');
head.names = texts.slice(0, texts.length / 2);
head.files = texts.slice(texts.length / 2);
head.lines = columns.plain('word.line');
const edges = edgesOf(columns);
await pause();
const objects = objectsOf(columns, edges);
await pause();
const spans = spansOf(columns, objects);
await pause();
const irqs = irqsOf(columns);
model = {head, objects, spans, edges, irqs, lastTime: head.clocks};
model.arrows = withArrows(arrowsOf(edges, objects, irqs), [
packetsOf(columns),
wakesOf(model),
]);
model.labels = {
time: columns.changes('label.time'),
object: numbersOf(Int32Array, columns.plain('label.object')),
name: numbersOf(Int32Array, columns.plain('label.name')),
};
model.labels.count = model.labels.time.length;
await pause();
model.steps = stepsOf(columns);
model.counters = countersOf(columns, model.steps);
model.pauses = intervalsByTrace(columns, 'pause');
model.losses = intervalsByTrace(columns, 'loss');
model.stolen = intervalsByTrace(columns, 'stolen');
model.idles = idlesOf(model);
}
const isSystem = (o) => model.objects.system[o] > 0;
const isLoop = (o) => model.objects.system[o] === SYSTEM.loop;
const isVector = (o) => model.objects.system[o] === SYSTEM.vector;
const by = {
span: null, // of spans, by object, as byNumber() makes it
out: null, // of arrows that leave an object
into: null, // of arrows that reach it
irq: null, // of interrupts, by the object of their vector
label: null,
step: null,
runs: [], // of each trace: run spans in order of time
};
function* makeIndexes() {
const {objects, spans, arrows, labels, irqs} = model;
by.span = yield* byNumber(spans.object, objects.count);
by.out = yield* byNumber(arrows.from, objects.count);
by.into = yield* byNumber(arrows.to, objects.count);
by.irq = yield* byNumber(irqs.vector, objects.count);
by.label = yield* byNumber(labels.object, objects.count);
by.step = yield* byNumber(model.steps.object, objects.count);
by.runs = model.head.traces.map(() => []);
for (let i = 0; i < spans.count; ++i)
if (spans.state[i] === 1)
by.runs[objects.trace[spans.object[i]]].push(i);
}
const listOfObject = ({from, list}, object) =>
list.subarray(from[object], from[object + 1]);
const hasSpans = (object) => by.span.from[object] < by.span.from[object + 1];
function each({from, list}, object, what) {
for (let i = from[object]; i < from[object + 1]; ++i) what(list[i]);
}
const firstOf = (list, column, value) =>
firstThat(0, list.length, (i) => column[list[i]] >= value);
class FreeRows {
constructor(room = 1024) {
this.room = room; // a power of two
this.count = 0; // rows in use
this.ends = new Float64Array(2 * room).fill(-Infinity);
}
grow() {
const more = new FreeRows(2 * this.room);
for (let row = 0; row < this.room; ++row)
more.ends[more.room + row] = this.ends[this.room + row];
for (let i = more.room - 1; i > 0; --i)
more.ends[i] = Math.min(more.ends[2 * i], more.ends[2 * i + 1]);
this.room = more.room;
this.ends = more.ends;
}
first(row, time) {
while (row >= this.room) this.grow();
const {ends, room} = this;
let i = room + row;
while (ends[i] > time) {
while (i & 1 && i > 1) i >>= 1;
if (i <= 1) {
this.grow();
return this.first(room, time);
}
++i;
}
while (i < room) i = ends[2 * i] <= time ? 2 * i : 2 * i + 1;
return i - room;
}
endOf(row) {
return this.ends[this.room + row];
}
put(row, time) {
const {ends} = this;
let i = this.room + row;
ends[i] = time;
for (i >>= 1; i > 0; i >>= 1)
ends[i] = Math.min(ends[2 * i], ends[2 * i + 1]);
this.count = Math.max(this.count, row + 1);
}
}
function* layOutRows(items) {
const rows = new Int32Array(items.count),
free = new FreeRows();
for (let i = 0; i < items.count; ++i) {
const parent = items.parent[i],
begin = items.begin[i];
let row = -1;
if (parent < 0) {
row = free.first(0, begin);
} else if (items.merged[i] || items.end[parent] <= begin) {
const same = rows[parent];
row = free.endOf(same) <= begin ? same : free.first(0, begin);
} else {
row = free.first(rows[parent] + 1, begin);
}
rows[i] = row;
free.put(row, Math.max(items.end[i], begin + 1));
if (i % 4096 === 0) yield;
}
return {rows, height: free.count};
}
const CONTINUATIONS = new Set([
'bind',
'map',
'catch',
'ignore_result',
'on_failure',
'on_termination',
]);
function firstActs(model) {
const {objects, edges, labels} = model,
count = objects.count;
const read = new Float64Array(count).fill(-1),
source = new Int32Array(count),
tried = new Float64Array(count).fill(Infinity),
acted = new Uint8Array(count),
looked = new Int32Array(count),
named = new Float64Array(count).fill(Infinity);
for (let i = labels.count - 1; i >= 0; --i)
named[labels.object[i]] = labels.time[i];
for (let i = 0; i < edges.time.length; ++i) {
const from = edges.from[i],
kind = edges.kind[i],
time = edges.time[i];
if (kind === ARROW.try_read)
tried[edges.to[i]] = Math.min(tried[edges.to[i]], time);
if (acted[from]) continue;
const other = looked[from] && looked[from] !== edges.to[i];
if (kind === ARROW.try_read && !other) {
looked[from] = edges.to[i];
continue;
}
acted[from] = 1;
if (kind !== ARROW.read || other || named[from] < time) continue;
read[from] = time;
source[from] = edges.to[i];
}
return {read, source, tried};
}
function familyOf(model, simplified) {
const {objects, head} = model;
const first = firstActs(model);
const parent = new Int32Array(objects.count);
const begin = objects.begin.slice();
const continues = head.types.map((name) => CONTINUATIONS.has(name));
for (let o = 1; o < objects.count; ++o) {
const creator = objects.creator[o];
parent[o] = isSystem(creator) ? 0 : creator;
if (!simplified || !continues[objects.type[o]]) continue;
const read = first.read[o];
if (read < 0 || first.tried[o] <= read) continue;
if (creator && objects.become[creator] === o) continue;
begin[o] = read;
parent[o] = isSystem(first.source[o]) ? 0 : first.source[o];
}
return {parent, begin};
}
const PANELS = ['object', 'sites', 'late', 'interrupts', 'times', 'stacks'];
const view = {
from: 0, // clocks, of the picture's left edge
to: 1,
focus: 0, // row
chosen: 0, // object, 0 = none
range: null, // [from, to) in clocks that is selected, null = all
search: '',
simplified: true,
grouped: true,
opened: [], // keys of groups
hidden: [], // keys of sites
only: [],
states: null, // numbers of STATES, null = all
arrows: [], // names of ARROWS
counters: true,
interrupts: true, // have rows
uncounted: [], // numbers of counters that are not drawn
path: false, // the critical path of the chosen object is drawn
panel: 'object',
waits: false, // the panel of stacks shows waits
mark: 'create', // of response times
until: 'resolve',
};
const atStart = {};
const asNumber = {write: String, read: (text) => Number(text) || 0};
const hashParts = {
a: ['from', asNumber],
b: ['to', asNumber],
f: ['focus', asNumber],
o: ['chosen', asNumber],
r: ['range', asRange],
s: ['search', asText],
i: ['simplified', asFlag],
g: ['grouped', asFlag],
q: ['opened', asListOf(String)],
x: ['hidden', asListOf(Number)],
y: ['only', asListOf(Number)],
e: ['states', asListOf(Number)],
w: ['arrows', asListOf(String)],
c: ['counters', asFlag],
n: ['interrupts', asFlag],
l: ['uncounted', asListOf(Number)],
k: ['path', asFlag],
p: ['panel', asChoice(PANELS)],
v: ['waits', asFlag],
m: ['mark', asText],
u: ['until', asText],
};
function viewOfHash(hash) {
readHash(hash);
if (!(view.to > view.from)) [view.from, view.to] = [atStart.from, atStart.to];
if (!(view.chosen < model.objects.count)) view.chosen = 0;
}
const palette = {};
const PALETTE = [
...['ink', 'soft', 'panel', 'accent', 'bad', 'found', 'ground', 'grid'],
...['idle', 'pause', 'stolen-band', 'object', 'run', 'ready', 'glow'],
...['density', 'irq'],
];
const ARROW_COLOURS = {
create: '--object',
try_read: '--try-read',
read: '--read',
failed_read: '--bad',
resolve: '--resolve',
fail: '--bad',
cancel: '--bad',
become: '--object',
signal: '--signal',
wake: '--ready',
defer: '--irq',
packet: '--packet',
};
const COUNTER_COLOURS = [
...['--read', '--signal', '--resolve', '--irq', '--ink', '--try-read'],
];
function readTheme() {
for (const name of PALETTE) palette[name] = colourOfTheme(`--${name}`);
palette.arrows = ARROWS.map((name) => colourOfTheme(ARROW_COLOURS[name]));
palette.hatching = null; // hatching()
palette.counters = COUNTER_COLOURS.map(colourOfTheme);
}
const GROUP_FROM = 200; // objects; smaller groups are never closed
const GROUP_KIND_FROM = 2000; // of a kind, where their sites are not known
const GROUPS_MAX = 40; // with more, parents do not separate groups
const items = {
count: 0,
object: null, // 0: a group
group: null, // its number, -1: an object
begin: null,
end: null,
parent: null, // item, -1 = none
merged: null,
rows: null, // the first, where there are several
tall: null, // rows of each item: a group may have several
bandAt: null, // of each row the group's item, -1 = objects
height: 0, // rows
trace: null, // of each item
bands: [], // [first row, row after the last] of each trace
ofObject: null, // item of each object, -1 = not drawn
byRow: null, // items in order of row and begin
rowFrom: null, // where each row begins in it, and the end
};
let groups = []; // {key, site: an object of it, members, shown, band}
let family = null;
const typeOf = (object) => model.head.types[model.objects.type[object]] || '';
function siteName(object) {
const {objects, head} = model;
return head.names[objects.site[object]] || typeOf(object);
}
function sitePlace(object) {
const {objects, head} = model,
site = objects.site[object];
if (!head.files[site]) return '';
return make('span', {
className: 'place',
textContent: ` ${head.files[site]}:${head.lines[site]}`,
});
}
function objectName(object) {
if (!object) return 'none';
const {objects, head} = model,
label = objects.label[object];
if (isSystem(object)) return systemName(object);
const name = label ? head.names[label] : siteName(object);
return `${name} ${objects.id[object]}`;
}
const alikeKey = (o) => model.objects.site[o] * 64 + model.objects.type[o];
function* findGroups() {
yield* groupBy((parent) => (parent ? alikeKey(parent) : ''));
if (groups.filter(isLarge).length > GROUPS_MAX) yield* groupBy(() => '');
}
function* groupBy(ofParent) {
const {objects} = model,
numbers = new Map();
groups = [];
for (let o = 1; o < objects.count; ++o) {
if (isSystem(o)) continue;
const key = `${alikeKey(o)} ${ofParent(family.parent[o])}`;
if (!numbers.has(key)) {
numbers.set(key, groups.length);
groups.push({key, site: o, members: [], shown: []});
}
groups[numbers.get(key)].members.push(o);
if (o % 8192 === 0) yield;
}
}
const isLarge = ({site, members}) =>
members.length >= (model.objects.site[site] ? GROUP_FROM : GROUP_KIND_FROM);
const isClosed = (group) =>
view.grouped && isLarge(group) && !view.opened.includes(group.key);
function isShown(o) {
const {objects} = model;
if (isSystem(o)) return false;
if (view.states !== null && !view.states.includes(objects.state[o]))
return false;
const key = alikeKey(o);
if (view.hidden.includes(key)) return false;
return view.only.length === 0 || view.only.includes(key);
}
function itemAbove(object) {
for (let o = family.parent[object], n = 0; o && n < 64; ++n) {
if (items.ofObject[o] >= 0) return items.ofObject[o];
o = family.parent[o];
}
return -1;
}
function* chooseItems() {
const chosen = [];
for (const [number, group] of groups.entries()) {
const members = group.members.filter(isShown);
yield;
if (members.length === 0) continue;
if (!isClosed(group)) {
for (const o of members) chosen.push([family.begin[o], o, -1, endOf(o)]);
continue;
}
let begin = Infinity,
end = 0;
for (const o of members) {
begin = Math.min(begin, family.begin[o]);
end = Math.max(end, endOf(o));
}
group.shown = members;
group.band = null;
chosen.push([begin, members[0], number, end]);
}
for (const o of systemRows()) chosen.push([family.begin[o], o, -1, endOf(o)]);
yield;
chosen.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
return chosen;
}
function systemRows() {
const {objects, head} = model,
list = [...head.loops];
if (view.interrupts)
for (let o = objects.count - head.vectors.length; o < objects.count; ++o)
list.push(o);
return list;
}
function systemName(o) {
if (isVector(o)) return `irq ${model.objects.id[o]}`;
return isLoop(o) ? 'event loop' : 'unknown';
}
const endOf = (o) => Math.max(model.objects.end[o], family.begin[o]);
function* fillItems(chosen) {
const {objects} = model,
count = chosen.length;
items.count = count;
items.begin = Float64Array.from(chosen, (one) => one[0]);
items.end = Float64Array.from(chosen, (one) => one[3]);
items.object = Int32Array.from(chosen, (one) => (one[2] < 0 ? one[1] : 0));
items.group = Int32Array.from(chosen, (one) => one[2]);
items.trace = Uint8Array.from(chosen, (one) => objects.trace[one[1]]);
items.parent = new Int32Array(count).fill(-1);
items.merged = new Uint8Array(count);
items.tall = new Uint8Array(count).fill(1);
items.ofObject = new Int32Array(objects.count).fill(-1);
yield;
for (let i = 0; i < count; ++i) {
if (items.group[i] < 0) items.ofObject[items.object[i]] = i;
else for (const o of groups[items.group[i]].shown) items.ofObject[o] = i;
}
yield;
for (let i = 0; i < count; ++i) {
const o = items.object[i];
if (!o) continue;
const above = itemAbove(o);
if (above >= i) continue;
items.parent[i] = above;
items.merged[i] = Number(objects.become[family.parent[o]] === o);
if (i % 8192 === 0) yield;
}
}
function* sortByRow() {
const {rows, height} = items;
const {from, list} = yield* byNumber(rows, height);
items.byRow = list;
items.rowFrom = from;
}
function itemsOfTrace(list) {
const places = new Map(list.map((item, i) => [item, i]));
return {
count: list.length,
begin: list.map((i) => items.begin[i]),
end: list.map((i) => items.end[i]),
merged: list.map((i) => items.merged[i]),
parent: list.map((i) => places.get(items.parent[i]) ?? -1),
};
}
const BETWEEN_TRACES = 2; // rows that are free
function placeGroups(list, others) {
const isTask = (i) => typeOf(groups[items.group[i]].site) === 'task',
size = (i) => groups[items.group[i]].shown.length,
tasks = list.filter(isTask),
promises = list.filter((i) => !isTask(i)),
tall = rowsOfBands(tasks.length, promises.length, others);
for (const [kind, part] of [tasks, promises].entries()) {
part.sort((a, b) => size(b) - size(a) || a - b);
for (const i of part) {
items.rows[i] = items.height;
items.tall[i] = tall[kind];
items.height += tall[kind];
}
}
}
function placeSystem(list) {
const last = (i) => Number(isLoop(items.object[i]));
list.sort(
(a, b) => last(a) - last(b) || items.object[a] - items.object[b] || a - b,
);
for (const i of list) items.rows[i] = items.height++;
}
function* layOutTrace(list) {
const first = items.height + (items.bands.length ? BETWEEN_TRACES : 0),
isGroup = (i) => items.group[i] >= 0,
isRow = (i) => !isGroup(i) && isSystem(items.object[i]),
objects = list.filter((i) => !isGroup(i) && !isRow(i)),
bands = list.filter(isGroup);
const {rows, height} = yield* layOutRows(itemsOfTrace(objects));
items.height = first;
placeSystem(list.filter(isRow));
if (bands.length) placeGroups(bands, height);
for (const [i, item] of objects.entries())
items.rows[item] = items.height + rows[i];
items.height += height;
items.bands.push([first, items.height]);
}
function* layOutTraces() {
const traces = model.head.traces.length,
lists = Array.from({length: traces}, () => []);
items.bands = [];
items.rows = new Int32Array(items.count);
items.height = 0;
for (let i = 0; i < items.count; ++i) lists[items.trace[i]].push(i);
for (const list of lists) yield* layOutTrace(list);
items.bandAt = new Int32Array(items.height).fill(-1);
for (let i = 0; i < items.count; ++i)
if (items.group[i] >= 0)
items.bandAt.fill(i, items.rows[i], items.rows[i] + items.tall[i]);
}
function* placeItems() {
family = familyOf(model, view.simplified);
yield;
yield* findGroups();
const chosen = yield* chooseItems();
yield* fillItems(chosen);
yield* layOutTraces();
yield* sortByRow();
}
function firstInRow(row, time) {
const {byRow, end, rowFrom} = items;
return firstThat(
rowFrom[row],
rowFrom[row + 1],
(i) => end[byRow[i]] >= time,
);
}
function* inSight(row) {
const {byRow, begin, rowFrom} = items;
for (let at = firstInRow(row, port.from); at < rowFrom[row + 1]; ++at) {
if (begin[byRow[at]] > port.to) return;
yield byRow[at];
}
}
const PITCH = 26; // pixels between rows that fit
const MARGIN_TOP = 34; // pixels, for times and captions
const MARGIN_BOTTOM = 26;
const LANE_LEAST = 60;
const LANE_PART = 0.22; // of the picture
const WIDEST = 5e5; // clocks a pixel, at most
const NARROWEST = 1e-3;
const port = {width: 1, height: 1, from: 0, to: 1, focus: 0};
const xIn = ({from, to}, time) => ((time - from) / (to - from)) * port.width;
const xOf = (time) => xIn(view, time);
const paintX = (time) => xIn(port, time);
const timeOf = (x) => view.from + (x / port.width) * (view.to - view.from);
const laneRoom = () =>
drawnCounters().length
? Math.max(LANE_LEAST, Math.round(LANE_PART * port.height))
: 0;
const roomForRows = () => port.height - MARGIN_TOP - MARGIN_BOTTOM - laneRoom();
const rowsFit = () => items.height * PITCH <= roomForRows();
function tangentOf(focus) {
const high = items.height * PITCH,
y = focus * PITCH,
edge = Math.min(y, high - y);
return port.height * (0.5 - 0.25 * Math.tanh(edge / 1000));
}
function projection(focus) {
if (rowsFit()) return (row) => MARGIN_TOP + (row + 0.5) * PITCH;
const scale = 2 * tangentOf(focus),
f = focus * PITCH;
const press = (row) => Math.tanh((row * PITCH - f) / scale);
const top = press(0),
whole = press(Math.max(1, items.height - 1)) - top;
return (row) =>
MARGIN_TOP +
PITCH / 2 +
(roomForRows() - PITCH) * ((press(row) - top) / whole);
}
function rowOfY(y, yOf) {
const last = Math.max(0, items.height - 1);
return firstThat(0, last, (row) => (yOf(row) + yOf(row + 1)) / 2 >= y);
}
function focusFor(row, y) {
let low = 0,
high = Math.max(1, items.height - 1);
for (let i = 0; i < 40; ++i) {
const middle = (low + high) / 2;
if (projection(middle)(row) > y) low = middle;
else high = middle;
}
return (low + high) / 2;
}
function setTimes(from, to) {
const all = Math.max(1, model.lastTime),
most = all * 1.04;
const [least, widest] = [NARROWEST, WIDEST].map((one) => one * port.width);
const span = clamp(to - from, least, Math.min(most, widest));
const middle = (from + to) / 2;
view.from = clamp(middle - span / 2, -0.02 * all, 1.02 * all - span);
view.to = view.from + span;
}
function zoomTo(times, x) {
const at = timeOf(x);
setTimes(at - times * (at - view.from), at + times * (view.to - at));
}
const LINE = 2; // pixels, of an object
const RUN = 4; // of a span in which it runs, and a border of a pixel
const UNKNOWN = 6; // of a span of which nothing is known
const TIP = 6; // of the triangle of what never ended
function mergedBands(records, band) {
let x0 = -10,
x1 = -10;
const first = firstAtLeast(records.end, port.from);
for (let i = first; i < records.count && records.begin[i] <= port.to; ++i) {
const from = Math.max(-1, paintX(records.begin[i])),
to = Math.min(port.width + 1, paintX(records.end[i]));
if (from - x1 < 0.5) {
x1 = Math.max(x1, to);
continue;
}
if (x1 > x0) band(x0, x1);
x0 = from;
x1 = Math.max(to, from + 0.5);
}
if (x1 > x0) band(x0, x1);
}
function groundOf(trace, yOf) {
const last = model.head.traces.length - 1,
[first, next] = items.bands[trace];
return [
trace > 0 ? yOf(first - BETWEEN_TRACES) : 0,
trace < last
? yOf(next)
: port.height - (last > 0 && laneRoom() ? laneRoom() + MARGIN_BOTTOM : 0),
];
}
function paintBands(pen, records, colour, caption, [top, bottom]) {
mergedBands(records, (x0, x1) => {
pen.fillStyle = colour;
pen.fillRect(x0, top, x1 - x0, bottom - top);
const wide = pen.measureText(caption).width;
if (x1 - x0 < wide + 12) return;
pen.fillStyle = palette.soft;
pen.fillText(caption, (x0 + x1 - wide) / 2, top + 12);
});
}
function paintGround(pen, yOf) {
const {width, height} = port;
pen.fillStyle = palette.ground;
pen.fillRect(0, 0, width, height);
for (const trace of items.bands.keys()) {
const ground = groundOf(trace, yOf);
paintBands(pen, model.idles[trace], palette.idle, 'idle', ground);
paintBands(pen, model.pauses[trace], palette.pause, 'pause', ground);
paintBands(
pen,
model.stolen[trace],
palette['stolen-band'],
'stolen',
ground,
);
}
}
function hatching(pen) {
palette.hatching = palette.hatching || hatch(pen, palette.bad);
return palette.hatching;
}
function paintLosses(pen, yOf) {
for (const trace of items.bands.keys()) {
const [top, bottom] = groundOf(trace, yOf),
high = Math.min(bottom, port.height - MARGIN_BOTTOM) - top;
mergedBands(model.losses[trace], (x0, x1) => {
for (const style of [palette.ground, hatching(pen)]) {
pen.fillStyle = style;
pen.globalAlpha = style === palette.ground ? 1 : 0.55;
pen.fillRect(x0 - 1, top, Math.max(3, x1 - x0 + 2), high);
}
pen.globalAlpha = 1;
});
}
}
function paintTraces(pen, yOf) {
const {traces} = model.head;
if (traces.length < 2) return;
for (const [trace, {name}] of traces.entries()) {
const [top] = groundOf(trace, yOf);
pen.fillStyle = palette.soft;
if (trace > 0) pen.fillRect(0, Math.round(top), port.width, 1);
pen.fillStyle = palette.ink;
pen.fillText(name.replace(/.*\//, ''), 6, top + 12);
}
}
function paintGrid(pen) {
const hz = model.head.clock_hz,
[from, to] = [port.from / hz, port.to / hz];
const {ticks, step} = ticksOf(from, to, ((to - from) * 110) / port.width);
for (const tick of ticks) {
const x = Math.round(paintX(tick * hz));
pen.fillStyle = palette.grid;
pen.fillRect(x, 0, 1, port.height - MARGIN_BOTTOM);
pen.fillStyle = palette.soft;
const text = secondsText(tick, step, to);
if (x + 4 + pen.measureText(text).width < port.width)
pen.fillText(text, x + 4, port.height - MARGIN_BOTTOM / 2);
}
}
function paintRowLines(pen, row, y) {
const {begin, end} = items;
let x0 = -10,
x1 = -10;
const flush = () => {
if (x1 > x0) pen.fillRect(x0, y - LINE / 2, Math.max(1, x1 - x0), LINE);
};
for (const i of inSight(row)) {
const from = Math.max(-2, paintX(begin[i])),
to = Math.min(port.width + 2, paintX(end[i]));
if (from - x1 < 0.4 && from >= x0) {
x1 = Math.max(x1, to);
continue;
}
flush();
x0 = from;
x1 = Math.max(to, from + 1);
}
flush();
}
function paintSpans(pen, object, y) {
const {spans} = model,
{list, from} = by.span;
let until = -10;
for (let at = from[object]; at < from[object + 1]; ++at) {
const i = list[at];
if (spans.end[i] < port.from) continue;
if (spans.begin[i] > port.to) break;
if (!PAINTED_SPANS.has(spans.state[i])) continue;
const x0 = Math.max(-2, paintX(spans.begin[i])),
x1 = Math.min(port.width + 2, paintX(spans.end[i]));
if (x1 < until + 0.5 && x1 - x0 < 0.5) continue;
until = Math.max(x1, x0 + 1);
paintSpan(pen, spans.state[i], x0, y, Math.max(1, x1 - x0));
}
}
const PAINTED_SPANS = new Set([
1,
4,
6,
]);
function paintSpan(pen, state, x, y, wide) {
const bar = (colour, thick, left, width) => {
pen.fillStyle = colour;
pen.fillRect(left, y - thick / 2, width, thick);
};
if (state === 4) bar(palette.ready, LINE + 1, x, wide);
else if (state === 6) {
bar(palette.ground, UNKNOWN, x, wide);
bar(hatching(pen), UNKNOWN, x, wide);
} else {
bar(palette.object, RUN + 2, x, wide);
bar(palette.run, RUN, x + (wide > 3 ? 1 : 0), wide > 3 ? wide - 2 : wide);
}
}
function paintEnd(pen, object, y) {
const {objects} = model,
x = paintX(objects.end[object]);
if (x < -10 || x > port.width + 10) return;
const half = {[2]: 8, [3]: 5}[
objects.state[object]
];
if (half) {
pen.fillStyle = palette.bad;
pen.fillRect(x - 1, y - half, 2, 2 * half);
} else if (objects.state[object] === 0) {
pen.fillStyle = palette.object;
pen.beginPath();
pen.moveTo(x, y - TIP / 2 - 1);
pen.lineTo(x + TIP + 1, y);
pen.lineTo(x, y + TIP / 2 + 1);
pen.fill();
}
}
function paintDetails(pen, row, y) {
const {begin, end, object} = items;
let until = -10;
for (const i of inSight(row)) {
const x0 = paintX(begin[i]),
x1 = paintX(end[i]);
if (!object[i] || x1 < until + 0.5) continue;
until = x1;
if (object[i] === view.chosen) paintGlow(pen, x0, x1, y);
if (isVector(object[i])) paintIrqs(pen, object[i], y);
else paintSpans(pen, object[i], y);
if (!isSystem(object[i])) paintEnd(pen, object[i], y);
}
}
function paintGlow(pen, x0, x1, y) {
pen.fillStyle = palette.glow;
pen.fillRect(x0 - 4, y - 6, x1 - x0 + 8, 12);
pen.fillStyle = palette.object;
pen.fillRect(x0, y - LINE / 2, Math.max(1, x1 - x0), LINE);
}
function paintPressed(pen, from, to, y) {
const {width} = port,
change = new Float32Array(width + 2),
{begin, end} = items;
for (let row = from; row < to; ++row)
for (const i of inSight(row)) {
const x0 = Math.max(0, Math.floor(paintX(begin[i]))),
x1 = Math.max(x0 + 1, Math.ceil(paintX(end[i])));
++change[x0];
--change[Math.min(width + 1, x1)];
}
let sum = 0,
begun = 0;
for (let x = 0; x <= width; ++x) {
if (change[x] === 0 && x < width) continue;
if (sum > 0.5) {
pen.globalAlpha = Math.min(1, 0.25 + (0.75 * sum) / (to - from));
pen.fillRect(begun, y, x - begun, 1);
}
sum += change[x];
begun = x;
}
pen.globalAlpha = 1;
}
function hasRoom(item, yOf) {
const [top, bottom] = edgesOfBand(item, yOf);
return bottom - top >= 4;
}
function* paintRows(pen, yOf) {
for (let row = 0; row < items.height; ) {
const y = yOf(row),
band = items.bandAt[row];
if (band >= 0 && hasRoom(band, yOf)) {
yield* paintBand(pen, band, yOf);
row += items.tall[band];
continue;
}
let next = row + 1;
while (next < items.height && yOf(next) < Math.floor(y) + 1) ++next;
pen.fillStyle = palette.object;
if (next - row > 1) {
paintPressed(pen, row, next, Math.floor(y));
} else {
paintRowLines(pen, row, y);
paintDetails(pen, row, y);
}
row = next;
yield;
}
}
function* paintPicture(pen, yOf) {
paintGround(pen, yOf);
paintGrid(pen);
yield;
yield* paintRows(pen, yOf);
yield* paintArrows(pen, yOf);
yield* paintLabels(pen, yOf);
yield* paintSteps(pen, yOf);
yield* paintCounters(pen);
paintLosses(pen, yOf);
paintBandNames(pen, yOf);
paintTraces(pen, yOf);
}
const LABEL_FROM = 18; // pixels wide; narrower objects have no name
const LABEL_ROOM = 13; // pixels to the next row; closer ones have no names
function clipped(pen, text, room) {
const wide = pen.measureText(text).width;
if (wide <= room) return text;
const chars = Math.floor((text.length * (room - 8)) / wide);
return chars < 2 ? '' : text.slice(0, chars) + '\u2026';
}
function labelsOf(object) {
if (isSystem(object)) return [[family.begin[object], rowTitle(object)]];
const {labels, head} = model,
list = [];
each(by.label, object, (i) =>
list.push([labels.time[i], head.names[labels.name[i]]]),
);
if (list.length === 0) list.push([family.begin[object], siteName(object)]);
if (isStuck(object))
list[list.length - 1][1] += `, ${standingOf(object).text}`;
if (model.objects.state[object] === 2)
list.push([
model.objects.end[object],
head.names[model.objects.why[object]] || 'failed',
]);
return list;
}
function paintLabelsOf(pen, object, y, x0, x1) {
const list = labelsOf(object);
let until = Math.max(4, x0);
pen.fillStyle = palette.ink;
for (const [n, [time, text]] of list.entries()) {
const x = paintX(time);
const next = n + 1 < list.length ? paintX(list[n + 1][0]) : x1;
if (next < 0 || x > port.width) continue;
const at = Math.max(until, Math.min(x, x1 - 4)),
room = Math.min(Math.max(next, x1), port.width) - at;
const shown = clipped(pen, text, room);
if (!shown) continue;
pen.fillText(shown, at, y - 8);
until = at + pen.measureText(shown).width + 6;
}
}
function* paintLabels(pen, yOf) {
const {begin, end, object} = items;
for (let row = 0; row < items.height; ++row) {
const y = yOf(row),
above = row > 0 ? y - yOf(row - 1) : LABEL_ROOM;
if (above < LABEL_ROOM) continue;
let until = -10;
for (const i of inSight(row)) {
const x0 = paintX(begin[i]),
x1 = Math.min(port.width, paintX(end[i]));
if (!object[i] || x1 - Math.max(0, x0, until) < LABEL_FROM) continue;
paintLabelsOf(pen, object[i], y, x0, x1);
until = x1;
}
yield;
}
}
const HEAD = 8; // pixels
const FADE = 4000; // pixels wide: no longer visible
const ARROWS_MAX = 60000; // drawn in one picture; the rest is too dense to see
function rowOfObject(object, inGroups = true) {
const item = items.ofObject[object];
return item < 0 || (!inGroups && items.group[item] >= 0)
? -1
: items.rows[item] + (items.tall[item] - 1) / 2;
}
function firstArrow(time) {
return firstAtLeast(model.arrows.end, time);
}
const arrowsInSight = () => firstArrow(port.to) - firstArrow(port.from);
function paintHead(pen, x0, y0, x1, y1) {
const steep = Math.abs(y1 - y0) > 10;
const dx = steep ? 0 : Math.sign(x1 - x0) || 1,
dy = steep ? Math.sign(y1 - y0) : 0;
pen.moveTo(x1 - dx * HEAD - dy * 3, y1 - dy * HEAD - dx * 3);
pen.lineTo(x1, y1);
pen.lineTo(x1 - dx * HEAD + dy * 3, y1 - dy * HEAD + dx * 3);
}
function placeOfArrow(i, yOf) {
const {arrows} = model,
from = rowOfObject(arrows.from[i], false),
to = rowOfObject(arrows.to[i], false);
if (from < 0 || to < 0 || from === to) return null;
const x0 = paintX(arrows.begin[i]),
x1 = paintX(arrows.end[i]);
if (Math.max(x0, x1) < -50 || Math.min(x0, x1) > port.width + 50) return null;
return [x0, yOf(from), x1, yOf(to)];
}
function isDrawn(type, i) {
if (type !== ARROW.create) return view.arrows.includes(ARROWS[type]);
const to = model.arrows.to[i];
return (
view.arrows.includes('create') &&
family.begin[to] === model.objects.begin[to]
);
}
function* paintArrows(pen, yOf) {
const {arrows} = model,
span = port.to - port.from,
seen = new Set();
let drawn = 0;
pen.lineWidth = 1;
const last = firstArrow(port.to + span),
strength = Math.min(1, 0.25 + 2500 / Math.max(1, arrowsInSight()));
for (let i = firstArrow(port.from - span); i < last; ++i) {
if (i % 2048 === 0) yield;
const type = arrows.type[i];
if (!isDrawn(type, i)) continue;
const place = placeOfArrow(i, yOf);
if (!place || drawn > ARROWS_MAX) continue;
const [x0, y0, x1, y1] = place;
const alpha = 1 - Math.abs(x1 - x0) / FADE;
const key =
((Math.round(x0) * 4096 + Math.round(x1)) * 4096 + Math.round(y0)) *
4096 +
Math.round(y1);
if (alpha < 0.02 || seen.has(key)) continue;
seen.add(key);
++drawn;
pen.globalAlpha = alpha * strength * (type === ARROW.create ? 0.6 : 0.9);
pen.strokeStyle = palette.arrows[type];
pen.beginPath();
pen.moveTo(x0, y0);
pen.lineTo(x1, y1);
if (type !== ARROW.create && Math.abs(y1 - y0) > 4)
paintHead(pen, x0, y0, x1, y1);
pen.stroke();
}
pen.globalAlpha = 1;
}
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
before(time) {
const n = firstAtLeast(this.begins, time),
m = firstAtLeast(this.ends, time);
return n * time - this.begun[n] - (m * time - this.ended[m]);
}
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
function* makeBand(group) {
const {objects} = model,
{shown} = group,
ready = {begins: [], ends: []},
run = {begins: [], ends: []};
yield* collectSpans(shown, {
[4]: ready,
[1]: run,
});
const all = new Curve(
shown.map((o) => objects.begin[o]),
shown.map(endOf),
);
yield;
const byEnd = Uint32Array.from(shown).sort((a, b) => endOf(a) - endOf(b));
yield;
const ended = shown.filter((o) => objects.state[o] !== 0);
return {
all,
ready: new Curve(ready.begins, ready.ends),
run: new Curve(run.begins, run.ends),
most: all.most(),
isTask: run.begins.length > 0,
byEnd,
ends: Float64Array.from(byEnd, endOf),
lives: Float64Array.from(ended, lifeOf).sort(),
failed: shown.filter((o) => objects.state[o] === 2).length,
open: shown.length - ended.length,
cells: null, // where lives are on the picture: {x, y, size, columns, at}
};
}
function* bandOf(group) {
if (!group.band) group.band = yield* makeBand(group);
return group.band;
}
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
const BAND_GAP = 4; // pixels above and below
const BAND_HEAD = 16; // of its name
const BAND_LIVES = 112; // high: from here on lives have room
const BAND_THIN = 9; // only a shade
const STRIP = 5; // that shows how much of the time its objects run
const CELL = 3; // of lives that are counted together
const BAND_ROWS = [
[12, 4],
[10, 3],
[9, 2],
[9, 1],
];
const leastTall = (tasks) => (tasks <= 2 ? 9 : tasks <= 6 ? 6 : 3);
function rowsOfBands(tasks, promises, others) {
const room = Math.floor(roomForRows() / PITCH) - others;
return (
BAND_ROWS.find(([t, p]) => t * tasks + p * promises <= room) || [
leastTall(tasks),
1,
]
);
}
function edgesOfBand(item, yOf) {
const first = items.rows[item];
return [
yOf(first - 0.5) + BAND_GAP,
yOf(first + items.tall[item] - 0.5) - BAND_GAP,
];
}
function haloText(pen, text, x, y, colour) {
pen.lineJoin = 'round';
pen.strokeStyle = palette.ground;
pen.lineWidth = 3;
pen.globalAlpha = 0.85;
pen.strokeText(text, x, y);
pen.globalAlpha = 1;
pen.fillStyle = colour;
pen.fillText(text, x, y);
}
function meansOf(curve) {
const {from, to, width} = port,
step = (to - from) / width;
return Float64Array.from({length: width}, (_, x) =>
curve.mean(from + x * step, from + (x + 1) * step),
);
}
function paintArea(pen, low, high, bottom, unit, colour) {
pen.fillStyle = colour;
for (let x = 0; x < high.length; ++x) {
const n = high[x] - low[x];
if (n < 1e-6) continue;
const tall = Math.max(low[x] ? 0 : 1, n * unit);
pen.fillRect(x, bottom - low[x] * unit - tall, 1, tall);
}
}
function paintShade(pen, band, all, [top, bottom]) {
pen.fillStyle = palette.density;
for (const [x, n] of all.entries()) {
if (n <= 0) continue;
pen.globalAlpha = 0.2 + (0.8 * n) / band.most;
pen.fillRect(x, top, 1, bottom - top);
}
pen.globalAlpha = 1;
}
function paintCounts(pen, band, all, [top, bottom]) {
const unit = (bottom - top) / band.most,
none = new Float64Array(all.length),
ready = meansOf(band.ready);
if (bottom - top < BAND_HEAD + 8) pen.globalAlpha = 0.6; // under its name
paintArea(pen, none, ready, bottom, unit, palette.ready);
paintArea(pen, ready, all, bottom, unit, palette.density);
pen.globalAlpha = 1;
pen.fillStyle = palette.soft;
pen.fillRect(0, bottom, port.width, 1);
if (bottom - top < 30) return;
pen.globalAlpha = 0.5;
pen.fillRect(0, top, port.width, 1);
pen.globalAlpha = 1;
haloText(pen, countText(band.most), 6, top + 7, palette.soft);
haloText(pen, '0', 6, bottom - 6, palette.soft);
}
function paintStrip(pen, band, bottom) {
const shares = meansOf(band.run);
pen.fillStyle = palette.run;
for (const [x, share] of shares.entries()) {
if (share <= 0) continue;
pen.globalAlpha = 0.35 + 0.65 * Math.min(1, share);
pen.fillRect(x, bottom + 1, 1, STRIP);
}
pen.globalAlpha = 1;
}
function* paintBand(pen, item, yOf) {
const [top, bottom] = edgesOfBand(item, yOf),
group = groups[items.group[item]],
band = yield* bandOf(group),
all = meansOf(band.all);
band.cells = null;
if (bottom - top < BAND_THIN) {
paintShade(pen, band, all, [top, bottom]);
return;
}
const hasLives = bottom - top >= BAND_LIVES,
head = bottom - top >= 2 * BAND_HEAD ? BAND_HEAD : 0,
strip = band.isTask && head ? STRIP + 1 : 0,
base = hasLives ? top + 0.42 * (bottom - top) : bottom - strip;
paintCounts(pen, band, all, [top + head, base]);
if (strip) paintStrip(pen, band, base);
yield;
if (hasLives) yield* paintLives(pen, band, [base + strip + 8, bottom]);
}
function paintBandNames(pen, yOf) {
for (let row = 0; row < items.height; ++row) {
const item = items.bandAt[row];
if (item < 0 || items.rows[item] !== row) continue;
const [top, bottom] = edgesOfBand(item, yOf),
group = groups[items.group[item]];
if (group.band && bottom - top >= LABEL_ROOM)
paintBandName(pen, group, top + 8);
}
}
function paintBandName(pen, group, y) {
const name = `${countText(group.shown.length)} × ${siteName(group.site)}`;
haloText(pen, name, 6, y, palette.ink);
const at = 6 + pen.measureText(name).width + 10,
facts = factsOfBand(group, group.band).join('  ·  '),
text = clipped(pen, facts, port.width - at - 6);
if (text) haloText(pen, text, at, y, palette.soft);
}
const QUANTILES = [
['p50', 0.5],
['p99', 0.99],
];
function scaleOfLives(band, [top, bottom]) {
const {lives} = band,
longest = band.byEnd.reduce((most, o) => Math.max(most, lifeOf(o)), 1),
shortest = lives.length ? percentile(lives, 0.001) : longest,
low = Math.log(Math.min(shortest, longest / 10) * 0.8),
high = Math.log(longest * 1.25);
const yOf = (life) =>
bottom -
((Math.max(low, Math.log(life)) - low) / (high - low)) * (bottom - top);
return {yOf, low: Math.exp(low), high: Math.exp(high)};
}
function paintLifeAxis(pen, {yOf, low, high}) {
const hz = model.head.clock_hz;
let last = Infinity;
for (let power = Math.floor(Math.log10(low / hz)); ; ++power) {
const life = 10 ** power * hz,
y = Math.round(yOf(life));
if (life > high) return;
if (life < low || last - y < 14) continue;
last = y;
pen.fillStyle = palette.soft;
pen.globalAlpha = 0.3;
pen.fillRect(0, y, port.width, 1);
pen.globalAlpha = 1;
haloText(
pen,
secondsText(10 ** power, 10 ** power),
6,
y - 7,
palette.soft,
);
}
}
function paintQuantiles(pen, band, {yOf}) {
if (band.lives.length === 0) return;
let above = Infinity;
for (const [name, part] of QUANTILES) {
const life = percentile(band.lives, part),
y = Math.round(yOf(life)),
text = `${name} ${clocksText(life)}`,
x = port.width - pen.measureText(text).width - 8;
pen.fillStyle = palette.found;
for (let dash = 0; dash < port.width; dash += 8)
pen.fillRect(dash, y, 4, 1);
above = Math.min(y - 7, above - 14);
haloText(pen, text, x, above, palette.found);
}
}
function* countLives(band, yOf, cells) {
const {objects} = model,
{columns, rows, y} = cells,
counts = new Uint32Array(columns * rows),
bad = new Uint8Array(columns * rows);
let i = firstAtLeast(band.ends, port.from);
for (; i < band.byEnd.length && band.ends[i] <= port.to; ++i) {
const o = band.byEnd[i],
column = Math.floor(paintX(band.ends[i]) / CELL),
row = Math.floor((yOf(lifeOf(o)) - y) / CELL),
at = Math.max(0, Math.min(rows - 1, row)) * columns + column;
if (column < 0 || column >= columns) continue;
++counts[at];
cells.at[at] = o;
if (objects.state[o] === 2) bad[at] = 1;
else if (objects.state[o] === 0) bad[at] |= 2;
if (i % 8192 === 0) yield;
}
return {counts, bad};
}
function* paintLives(pen, band, [top, bottom]) {
const scale = scaleOfLives(band, [top, bottom]),
columns = Math.ceil(port.width / CELL),
rows = Math.ceil((bottom - top) / CELL),
at = new Uint32Array(columns * rows),
cells = {y: top, columns, rows, at};
const {counts, bad} = yield* countLives(band, scale.yOf, cells);
const most = counts.reduce((a, b) => Math.max(a, b), 1);
paintLifeAxis(pen, scale);
for (let i = 0; i < counts.length; ++i) {
if (counts[i] === 0) continue;
pen.fillStyle = [palette.density, palette.bad, palette.object][
bad[i] & 1 ? 1 : bad[i]
];
pen.globalAlpha =
bad[i] || most === 1
? 1
: 0.5 + (0.5 * Math.log(counts[i])) / Math.log(most);
pen.fillRect(
(i % columns) * CELL,
top + Math.floor(i / columns) * CELL,
CELL,
CELL,
);
if (i % 4096 === 0) yield;
}
pen.globalAlpha = 1;
paintQuantiles(pen, band, scale);
paintChosenLife(pen, band, scale);
band.cells = cells;
}
function paintChosenLife(pen, band, {yOf}) {
const o = view.chosen;
if (!o || groups[items.group[items.ofObject[o]]]?.band !== band) return;
const x0 = paintX(model.objects.begin[o]),
x1 = paintX(endOf(o)),
y = yOf(lifeOf(o));
pen.fillStyle = palette.found;
pen.fillRect(x0, y - 1, Math.max(2, x1 - x0), 2);
pen.fillRect(x1 - 3, y - 3, 6, 6);
}
function lifeAt(band, x, y) {
if (!band?.cells) return 0;
const {columns, rows, at, y: top} = band.cells,
column = Math.floor(x / CELL),
row = Math.floor((y - top) / CELL);
for (const by of [0, 1, -1])
for (const along of [0, 1, -1]) {
const r = row + by,
c = column + along;
if (r < 0 || r >= rows || c < 0 || c >= columns) continue;
if (at[r * columns + c]) return at[r * columns + c];
}
return 0;
}
const LANE_GAP = 10; // pixels above a lane
const LANE_FREE = 0.4; // of the picture: the most, where rows leave it free
const NAME_HIGH = 15;
const counterNames = () => [
...new Set([...model.counters.values()].map(({text}) => text)),
];
const colourOfCounter = ({number}) =>
palette.counters[number % palette.counters.length];
const isDrawnCounter = ({number}) => !view.uncounted.includes(number);
const drawnCounters = () =>
view.counters ? [...model.counters.values()].filter(isDrawnCounter) : [];
const countedTraces = () =>
[...new Set(drawnCounters().map(({trace}) => trace))].sort((a, b) => a - b);
function laneOf(trace) {
const traces = countedTraces(),
low = port.height - MARGIN_BOTTOM,
room = rowsFit() ? low - MARGIN_TOP - items.height * PITCH : laneRoom(),
top = low - Math.max(laneRoom(), Math.min(room, low * LANE_FREE)),
high = (low - top) / traces.length,
at = top + traces.indexOf(trace) * high;
return [at + LANE_GAP, at + high - 2];
}
function paintLanes(pen) {
for (const trace of countedTraces()) {
const [top, bottom] = laneOf(trace);
pen.fillStyle = palette.grid;
pen.fillRect(0, top - LANE_GAP / 2, port.width, 1);
if (model.head.traces.length < 2) continue;
pen.fillStyle = palette.ground;
pen.fillRect(
0,
top - LANE_GAP / 2 + 1,
port.width,
bottom - top + LANE_GAP,
);
pen.fillStyle = palette.soft;
const {name} = model.head.traces[trace];
pen.fillText(name.replace(/.*\//, ''), 6, top + 8);
}
}
const scaleKey = (name) => name.replace(/#[^#]*$/, '');
function scalesOf(counters) {
const scales = new Map();
for (const counter of counters) {
const key = scaleKey(counter.text);
const scale = scales.get(key) || {least: 0, most: 10};
for (let i = 0; i < counter.count; ++i) {
scale.least = Math.min(scale.least, counter.value[i]);
scale.most = Math.max(scale.most, counter.value[i]);
}
scales.set(key, scale);
}
return scales;
}
function pointsOf(counter, scale, [top, bottom]) {
const unit = (bottom - top) / (scale.most - scale.least);
const steps = [];
let i = Math.max(0, firstAtLeast(counter.time, port.from) - 1);
for (; i < counter.count && counter.time[i] <= port.to; ++i) {
const x = Math.round(Math.max(-1, paintX(counter.time[i]))),
y = bottom - (counter.value[i] - scale.least) * unit,
last = steps[steps.length - 1];
if (last && last[0] === x) {
last[1] = y;
last[2] = Math.min(last[2], y);
last[3] = Math.max(last[3], y);
} else steps.push([x, y, y, y]);
}
return steps;
}
function paintRanges(pen, steps, colour) {
pen.fillStyle = colour;
pen.globalAlpha = 0.3;
for (const [x, , least, most] of steps)
if (most - least > 2) pen.fillRect(x, least, 1, most - least);
pen.globalAlpha = 1;
}
function strokeSteps(pen, steps) {
pen.beginPath();
let last = null;
for (const [x, y] of steps) {
if (last === null) pen.moveTo(Math.max(0, x), y);
else {
pen.lineTo(x, last);
pen.lineTo(x, y);
}
last = y;
}
if (last !== null) pen.lineTo(port.width, last);
pen.stroke();
}
function paintCounterNames(pen, names, [top, bottom]) {
names.sort((a, b) => a[0] - b[0]);
let until = top - 7;
for (const [i, [y, text, colour]] of names.entries()) {
const below = NAME_HIGH * (names.length - i - 1), // that follow
room = bottom - below - 7;
until = Math.max(until + NAME_HIGH, Math.min(y - 8, room));
if (until > bottom) break;
const wide = pen.measureText(text).width;
haloText(pen, text, port.width - wide - 8, until, colour);
}
}
function* paintCounters(pen) {
paintLanes(pen);
const counters = drawnCounters(),
scales = scalesOf(counters),
names = model.head.traces.map(() => []);
for (const counter of counters) {
const {text, trace} = counter,
colour = colourOfCounter(counter),
scale = scales.get(scaleKey(text)),
steps = pointsOf(counter, scale, laneOf(trace));
if (steps.length === 0) continue;
paintRanges(pen, steps, colour);
pen.lineWidth = 1.5;
pen.strokeStyle = colour;
pen.globalAlpha = steps.length * 3 > port.width ? 0.45 : 0.9;
strokeSteps(pen, steps);
pen.globalAlpha = 1;
const said = `${text}, up to ${countText(scale.most)}`;
names[trace].push([steps[steps.length - 1][1], said, colour]);
yield;
}
for (const [trace, list] of names.entries())
if (list.length) paintCounterNames(pen, list, laneOf(trace));
}
const MARK_BELOW = 4; // pixels, from the middle of an object's line
const MARK_HIGH = 6;
const MARK_ROOM = 8; // pixels to the next row; closer ones have no marks
function stepsInSight(object, mark) {
const {time, name} = model.steps,
list = listOfObject(by.step, object),
last = new Map();
for (let at = firstOf(list, time, port.from); at < list.length; ++at) {
const i = list[at],
x = Math.round(paintX(time[i]));
if (time[i] > port.to) break;
if (last.get(name[i]) === x) continue;
last.set(name[i], x);
mark(i, x);
}
}
function* paintSteps(pen, yOf) {
const colours = new Map();
if (view.counters)
for (const [name, counter] of model.counters)
if (isDrawnCounter(counter)) colours.set(name, colourOfCounter(counter));
if (colours.size === 0) return;
for (let row = 0; row < items.height; ++row) {
const y = yOf(row);
if (yOf(row + 1) - y < MARK_ROOM) continue;
for (const item of inSight(row))
if (items.object[item])
stepsInSight(items.object[item], (i, x) => {
const colour = colours.get(model.steps.name[i]);
if (!colour) return;
pen.fillStyle = colour;
pen.fillRect(x - 1, y + MARK_BELOW, 2, MARK_HIGH);
});
yield;
}
}
const signedText = (number) =>
(number < 0 ? '\u2212' : '+') + countText(Math.abs(number));
function stepTexts(object, x) {
const {time, name, value, before} = model.steps,
list = listOfObject(by.step, object),
texts = [];
for (
let at = firstOf(list, time, timeOf(x - 4));
at < list.length && time[list[at]] <= timeOf(x + 4) && texts.length < 6;
++at
) {
const i = list[at],
change = signedText(value[i] - before[i]);
texts.push(
`${model.head.names[name[i]]} ${change}: ${countText(value[i])}`,
);
}
return texts;
}
function stepPart(object) {
const {name, value, before} = model.steps,
sums = new Map();
each(by.step, object, (i) => {
const sum = sums.get(name[i]) || {count: 0, change: 0};
++sum.count;
sum.change += value[i] - before[i];
sum.last = value[i];
sums.set(name[i], sum);
});
if (sums.size === 0) return [];
const rows = [...sums].map(([number, {count, change, last}]) => [
model.head.names[number],
countText(count),
signedText(change),
countText(last),
]);
const names = ['Counter', 'Steps', 'In all', 'Last value'];
return [make('h3', 'Counters it changed'), tableOf('steps', names, rows)];
}
function fillCounterMenu() {
$('counting').hidden = model.counters.size === 0;
checkList(
'counter-list',
counterNames(),
(name) => name,
(name, number) => !view.uncounted.includes(number),
(name, number) => {
view.uncounted = toggled(view.uncounted, number);
changed('items');
},
);
}
const IRQ = 10; // pixels high, of a mark
function paintIrqs(pen, vector, y) {
const {irqs} = model,
list = listOfObject(by.irq, vector),
last = (i) => Math.max(irqs.end[i], irqs.ran[i]);
let until = -10,
ready = -10;
const first = Math.max(0, firstOf(list, irqs.begin, port.from) - 1);
for (let at = first; at < list.length; ++at) {
const i = list[at];
if (irqs.begin[i] > port.to) break;
if (last(i) < port.from) continue;
const x0 = Math.max(-2, paintX(irqs.begin[i])),
x1 = Math.min(port.width + 2, paintX(irqs.end[i])),
x2 = Math.min(port.width + 2, paintX(last(i)));
if (x2 > Math.max(x1, ready) + 0.5) {
pen.fillStyle = palette.ready;
pen.fillRect(x1, y - LINE, x2 - x1, 2 * LINE);
ready = x2;
}
if (x1 < until + 0.5) continue;
until = Math.max(x1, x0 + 1);
pen.fillStyle = palette.irq;
pen.fillRect(x0, y - IRQ / 2, Math.max(1, x1 - x0), IRQ);
}
}
const servedBy = (vector) =>
new Set(
Array.from(listOfObject(by.irq, vector), (i) => model.irqs.to[i]).filter(
(o) => o,
),
);
function rowTitle(o) {
if (!isVector(o)) return objectName(o);
const {objects, head} = model,
names = new Set();
for (const to of servedBy(o))
names.add(head.names[objects.label[to]] || siteName(to));
return [objectName(o), ...names].join(', ');
}
function irqAt(vector, time) {
const list = listOfObject(by.irq, vector),
slack = timeOf(8) - timeOf(0),
at = firstOf(list, model.irqs.begin, time + slack);
return list[Math.max(0, at - 1)];
}
function systemText(o, time) {
const {irqs} = model,
count = by.irq.from[o + 1] - by.irq.from[o];
if (isLoop(o)) return loopText(o, time);
const all = plural(count, 'interrupt', 'interrupts');
if (time === undefined) return `${objectName(o)}, ${all}`;
const i = irqAt(o, time),
parts = [
`${all}; the one before the pointer: at ${timeText(irqs.begin[i])}`,
`handled in ${clocksText(irqs.end[i] - irqs.begin[i])}`,
];
if (irqs.in[i]) parts.push(`interrupted ${objectName(irqs.in[i])}`);
if (irqs.to[i])
parts.push(
`left work to ${objectName(irqs.to[i])}, which ` +
(irqs.ran[i] < 0
? 'did not run any more'
: `ran ${clocksText(irqs.ran[i] - irqs.begin[i])} after it`),
);
if (irqs.woke[i] >= 0)
parts.push(
'ended the idleness of the event loop, which ran ' +
`${clocksText(irqs.woke[i] - irqs.begin[i])} after it`,
);
return parts.join(', ');
}
const LOOP_WORDS = {
running: 'runs itself',
waiting: 'idle',
unknown: 'unknown, events are missing',
};
function loopText(o, time) {
if (time === undefined) return 'the event loop';
const {spans} = model,
i = spanAt(o, time),
name = Object.keys(TASKS_STATE)[spans.state[i]];
if (i < 0 || spans.end[i] < time) return 'runs tasks or callbacks';
const clocks = spans.end[i] - spans.begin[i];
return `${LOOP_WORDS[name] || name} for ${clocksText(clocks)}`;
}
function showSystem(panel, o) {
panel.append(make('h2', rowTitle(o)));
if (isLoop(o)) {
panel.append(
make('h3', 'Its time'),
...splitTable(splitOfLoop(o)),
make('h3', 'What ended its idleness'),
wakersTable(o),
);
} else {
panel.append(listOfFacts(factsOfVector(o)), ...latestIrqs(o));
}
panel.append(...stepPart(o), make('h3', 'Events'), eventTable(o));
}
function splitOfLoop(o) {
const {objects, spans} = model,
split = new Split(),
whole = objects.end[o] - objects.begin[o];
each(by.span, o, (i) => {
const clocks = spans.end[i] - spans.begin[i],
state = spans.state[i];
if (state === 1) split.add(PART.run, o, '', clocks);
else if (state === 6)
split.add(PART.lost, 0, 'events are missing', clocks);
else split.add(PART.wait, 0, 'an interrupt: idle', clocks);
});
split.add(PART.paused, 0, ': tasks and callbacks', whole - split.whole);
const stolen = stolenIn(objects.trace[o], objects.begin[o], objects.end[o]);
return {parts: split.list(), whole: split.whole, stolen};
}
const medianAnd99 = (times) => {
const sorted = Float64Array.from(times).sort();
return [partText(sorted, 0.5), partText(sorted, 0.99)];
};
function wakersTable(loop) {
const {irqs, objects} = model,
trace = objects.trace[loop],
delays = new Map();
for (let i = 0; i < irqs.count; ++i) {
const vector = irqs.vector[i];
if (irqs.woke[i] < 0 || objects.trace[vector] !== trace) continue;
if (!delays.has(vector)) delays.set(vector, []);
delays.get(vector).push(irqs.woke[i] - irqs.begin[i]);
}
return tableOf(
'wakers',
['Interrupt', 'Count', 'Ran after', 'p99'],
[...delays]
.sort((a, b) => a[0] - b[0])
.map(([vector, times]) => [
objectLink(vector),
countText(times.length),
...medianAnd99(times),
]),
);
}
function sumsOfVector(vector) {
const {irqs} = model,
sum = {handled: [], ran: [], woke: 0};
each(by.irq, vector, (i) => {
sum.handled.push(irqs.end[i] - irqs.begin[i]);
if (irqs.ran[i] >= 0) sum.ran.push(irqs.ran[i] - irqs.begin[i]);
sum.woke += Number(irqs.woke[i] >= 0);
});
return sum;
}
function factsOfVector(vector) {
const {handled, ran, woke} = sumsOfVector(vector),
of = (times) => {
const [p50, p99] = medianAnd99(times);
return `${p50} (median), ${p99} (p99)`;
};
const facts = [
['Interrupts', countText(handled.length)],
['Handled in', of(handled)],
['Ended idleness', countText(woke)],
];
const served = [...servedBy(vector)].flatMap((o) => [objectLink(o), ' ']);
if (served.length) facts.push(['Left work to', ...served]);
if (ran.length) facts.push(['Which ran after', of(ran)]);
return facts;
}
function showInterrupts(panel) {
const {head, objects, irqs} = model,
first = objects.count - head.vectors.length;
const table = tableOf(
'vectors',
['Interrupt', 'Count', 'Handled in', 'p99', 'Ran after', 'p99'],
head.vectors.map((_, i) => {
const {handled, ran} = sumsOfVector(first + i);
return [
objectLink(first + i),
countText(handled.length),
...medianAnd99(handled),
...medianAnd99(ran),
];
}),
);
panel.append(
make(
'p',
'From the interrupt to the end of its handler, and to the task or ' +
'callback that it left its work to.',
),
irqs.count ? table : make('p', 'The trace has none.'),
...latestIrqs(0),
);
}
function latestIrqs(vector) {
const {irqs} = model,
rows = [];
for (let i = firstAtLeast(irqs.begin, view.from); i < irqs.count; ++i) {
if (irqs.begin[i] > view.to || rows.length === 100) break;
if (vector && irqs.vector[i] !== vector) continue;
rows.push([
timeText(irqs.begin[i]),
objectLink(irqs.vector[i]),
clocksText(irqs.end[i] - irqs.begin[i]),
objectLink(irqs.to[i]),
irqs.ran[i] < 0 ? '–' : clocksText(irqs.ran[i] - irqs.begin[i]),
]);
}
const names = ['Time', 'Vector', 'Handled in', 'Led to', 'After'];
return rows.length
? [make('h3', 'In sight'), tableOf('irqs', names, rows)]
: [];
}
const PART = {
run: 'running',
paused: 'paused',
ready: 'ready',
wait: 'waiting',
lost: 'unknown',
};
const OUTSIDE = {
io: 'the device',
timer: 'the time',
sleep: 'the time',
connection: 'the network',
};
const outsideOf = (object) =>
OUTSIDE[model.head.types[model.objects.type[object]]] || '';
const isStuck = (object) =>
model.objects.state[object] === 0 &&
!model.objects.rests[object];
class Split {
constructor() {
this.parts = new Map();
this.whole = 0;
}
add(kind, cause, text, clocks, of = 0) {
if (!(clocks > 0)) return;
const key = `${kind} ${cause} ${of} ${text}`;
const part = this.parts.get(key) || {kind, cause, of, text, clocks: 0};
part.clocks += clocks;
this.parts.set(key, part);
this.whole += clocks;
}
list() {
return [...this.parts.values()].sort((a, b) => b.clocks - a.clocks);
}
}
function standingOf(object) {
const {objects, spans} = model,
end = objects.end[object],
last = listOfObject(by.span, object).at(-1);
let state = 'pending',
since = objects.begin[object];
if (last !== undefined) {
since = spans.end[last];
if (since >= end) {
state = Object.keys(TASKS_STATE)[spans.state[last]];
since = spans.begin[last];
}
}
return {since, text: `${state} ${clocksText(end - since)}`};
}
const stuckFor = (object) =>
model.objects.end[object] - standingOf(object).since;
const stateText = (object) =>
model.objects.state[object] === 0
? standingOf(object).text
: STATES[model.objects.state[object]];
const overlap = (from, to, begin, end) =>
Math.min(to, end) - Math.max(from, begin);
function stolenIn(trace, from, to) {
const stolen = model.stolen[trace];
let sum = 0;
for (let i = firstAtLeast(stolen.end, from); i < stolen.count; ++i) {
if (stolen.begin[i] >= to) break;
sum += Math.max(0, overlap(from, to, stolen.begin[i], stolen.end[i]));
}
return sum;
}
function splitReady(split, trace, object, from, to) {
const {spans} = model,
runs = by.runs[trace];
let left = to - from;
let at = Math.max(0, firstOf(runs, spans.begin, from) - 1);
for (; at < runs.length; ++at) {
const i = runs[at];
if (spans.begin[i] >= to) break;
const clocks = overlap(from, to, spans.begin[i], spans.end[i]);
if (clocks <= 0 || spans.object[i] === object) continue;
split.add(PART.ready, spans.object[i], '', clocks);
left -= clocks;
}
split.add(PART.ready, 0, 'the event loop itself', left);
}
function splitSpans(split, object, from, to) {
const {spans, objects, head} = model,
trace = objects.trace[object];
let at = from;
each(by.span, object, (i) => {
const begin = Math.max(at, spans.begin[i]),
end = Math.min(to, spans.end[i]);
if (end <= begin) return;
split.add(PART.lost, 0, 'not recorded', begin - at);
at = end;
const state = spans.state[i],
clocks = end - begin,
why = spans.why[i] ? head.names[spans.why[i]] : '';
if (state === 1) split.add(PART.run, object, '', clocks);
else if (state === 2)
split.add(PART.paused, object, '', clocks);
else if (state === 6)
split.add(PART.lost, 0, 'events are missing', clocks);
else if (state === 4)
splitReady(split, trace, object, begin, end);
else split.add(PART.wait, spans.what[i], why, clocks);
});
return at;
}
const ENDS = [ARROW.resolve, ARROW.fail],
READS = [ARROW.read, ARROW.failed_read];
function endOfPromise(object) {
const {type, from, end} = model.arrows,
isOneOf = (types) => (i) => types.includes(type[i]);
const ending = listOfObject(by.into, object).findLast(isOneOf(ENDS)),
reading = listOfObject(by.out, object).find(isOneOf(READS));
return {
resolver: ending === undefined ? 0 : from[ending],
read: reading === undefined ? -1 : end[reading],
};
}
function splitPromise(split, object) {
const {objects} = model,
begin = objects.begin[object],
end = objects.end[object];
const {resolver, read} = endOfPromise(object);
const runs = resolver && !outsideOf(object) && hasSpans(resolver);
let at = begin;
if (runs && !isSystem(resolver)) at = splitSpans(split, resolver, begin, end);
const cause = outsideOf(object) ? 0 : resolver;
split.add(PART.wait, cause, waitText(object, cause), end - at);
if (read > end) splitReady(split, objects.trace[object], object, end, read);
}
function waitText(object, resolver) {
if (model.objects.state[object] === 0)
return 'its end, which never came';
if (resolver && !isSystem(resolver)) return '';
return outsideOf(object) || 'something outside';
}
function splitOf(object) {
const {objects} = model,
split = new Split();
const begin = objects.begin[object],
end = objects.end[object];
if (hasSpans(object)) {
const at = splitSpans(split, object, begin, end);
if (objects.state[object] === 0)
split.add(PART.lost, 0, 'not recorded', end - at);
} else splitPromise(split, object);
const stolen = stolenIn(objects.trace[object], begin, end);
return {parts: split.list(), whole: split.whole, stolen};
}
function* splitOfAll(list) {
const sums = new Map();
for (const [n, object] of list.entries()) {
const key = alikeKey(object);
const none = {object, count: 0, stolen: 0, open: 0},
sum = sums.get(key) || none,
{parts, stolen} = splitOf(object);
++sum.count;
for (const kind of Object.values(PART)) sum[kind] ||= 0;
for (const part of parts) sum[part.kind] += part.clocks;
sum.stolen += stolen;
if (isStuck(object)) sum.open = Math.max(sum.open, stuckFor(object));
sums.set(key, sum);
if (n % 256 === 0) yield;
}
return [...sums.values()];
}
const PATH_MAX = 2000; // steps
function spanAt(object, time) {
const {begin} = model.spans,
{from, list} = by.span,
[first, last] = [from[object], from[object + 1]];
const next = firstThat(first, last, (i) => begin[list[i]] >= time);
return next > first ? list[next - 1] : -1;
}
function lastInto(object, time, types) {
const {end, type} = model.arrows,
fits = (i) => end[i] <= time && types.includes(type[i]);
return listOfObject(by.into, object).findLast(fits) ?? -1;
}
function irqBefore(object, time) {
const {irqs} = model;
for (let i = firstAtLeast(irqs.begin, time) - 1; i >= 0; --i) {
if (irqs.to[i] === object) return i;
if (time - irqs.begin[i] > model.head.clock_hz / 10) return -1;
}
return -1;
}
function openCause(object) {
const {arrows, objects} = model,
span = spanAt(object, Infinity);
if (span >= 0 && model.spans.state[span] === 3) {
const what = lastOf(model.spans.what[span]);
if (what && objects.state[what] === 0) return what;
}
if (span >= 0 && model.spans.state[span] !== 3) return 0;
const looked = listOfObject(by.out, object).findLast(
(i) =>
arrows.type[i] === ARROW.try_read &&
objects.state[lastOf(arrows.to[i])] === 0,
);
return looked === undefined ? 0 : lastOf(arrows.to[looked]);
}
function lastOf(object) {
const {become} = model.objects;
for (let n = 0; become[object] && n < PATH_MAX; ++n) object = become[object];
return object;
}
function openSteps(object, steps) {
const {objects} = model,
end = objects.end[object],
seen = new Set();
let cause = openCause(object);
while (cause && !seen.has(cause)) {
seen.add(object);
[object, cause] = [cause, openCause(cause)];
}
const begin = standingOf(object).since,
text = openText(object, cause);
steps.push({object, begin, end, kind: PART.wait, cause, text, irq: -1});
return [hasSpans(object) ? object : objects.creator[object], begin];
}
function openText(object, cause) {
if (cause) return 'in a circle';
const span = spanAt(object, Infinity);
if (span >= 0 && model.spans.state[span] === 3)
return model.head.names[model.spans.why[span]] || 'something outside';
return outsideOf(object) || 'its end, which never came';
}
function stepOfRunner(object, time, span) {
const {spans, objects} = model,
begin = spans.begin[span];
const step = {object, begin, end: time, kind: PART.run, text: ''};
if (spans.end[span] < time) {
step.begin = spans.end[span];
step.kind = PART.wait;
step.text = 'a reason to run';
return [step, object, step.begin];
}
if (spans.state[span] === 4) {
step.kind = PART.ready;
const cause = spans.what[span];
step.cause = cause;
return [step, cause || loopOfObject(object), begin];
}
if (spans.state[span] === 3) {
step.kind = PART.wait;
const what = spans.what[span];
step.cause = what;
step.text = what ? '' : model.head.names[spans.why[span]] || '';
return [step, what && objects.end[what] >= begin ? what : object, begin];
}
return [step, object, begin];
}
const loopOfObject = (object) => model.head.loops[model.objects.trace[object]];
function stepOfPromise(object, time) {
const {objects, arrows} = model,
begin = objects.begin[object];
const end = lastInto(object, time, ENDS);
if (end >= 0) {
const resolver = arrows.from[end],
at = arrows.end[end];
const step = {object, begin: at, end: time, kind: PART.ready, text: ''};
if (resolver && !isSystem(resolver) && !outsideOf(object) && at > begin)
return [step, resolver, at];
const text = outsideOf(object) || 'something outside';
const outside = {object, begin, end: time, kind: PART.wait, text};
return [outside, objects.creator[object], begin];
}
const text = hasSpans(object) ? 'its first run' : 'its end';
const step = {object, begin, end: time, kind: PART.wait, text};
return [step, objects.creator[object], begin];
}
function criticalPath(object, time) {
const steps = [],
{objects, spans} = model;
const isOpen =
objects.state[object] === 0 && time === objects.end[object];
const last = spanAt(object, Infinity);
const hasStopped =
last < 0 ||
spans.state[last] === 3 ||
spans.end[last] < time;
if (object && isOpen && hasStopped) [object, time] = openSteps(object, steps);
while (object && time > 0 && steps.length < PATH_MAX) {
if (isSystem(object)) break;
const span = spanAt(object, time);
const [step, next, at] =
span >= 0
? stepOfRunner(object, time, span)
: stepOfPromise(object, time);
step.irq = irqBefore(object, time);
if (step.end > step.begin) steps.push(step);
if (at >= time && next === object) break;
if (at > time) break;
[object, time] = [next, at];
}
return steps;
}
function sharesOfPath(steps) {
const split = new Split();
for (const step of steps)
split.add(
step.kind,
step.cause && step.cause !== step.object ? step.cause : 0,
step.text,
step.end - step.begin,
step.object,
);
return {parts: split.list(), whole: split.whole};
}
const clocksText = (clocks) => secondsText(clocks / model.head.clock_hz);
const timeText = (time) =>
secondsText(
time / model.head.clock_hz,
(view.to - view.from) / 1e4 / model.head.clock_hz,
time / model.head.clock_hz,
);
function objectLink(object) {
if (!object) return 'none';
const go = () => {
choose(object);
bringIntoSight(object);
};
return button(objectName(object), go, {className: 'link'});
}
function factsOf(object) {
const {objects, head} = model,
end = objects.state[object],
last =
end === 0
? 'the end of the trace'
: timeText(objects.end[object]);
const facts = [
['Kind', head.types[objects.type[object]]],
['Site', siteName(object), sitePlace(object)],
['Created by', objectLink(objects.creator[object])],
['From', timeText(objects.begin[object])],
[
'To',
`${last} (${clocksText(objects.end[object] - objects.begin[object])})`,
],
['State', stateText(object)],
];
if (end === 2)
facts.push(['Because', head.names[objects.why[object]] || 'unknown']);
if (objects.become[object])
facts.push(['Merged into', objectLink(objects.become[object])]);
if (head.traces.length > 1)
facts.push(['Trace', head.traces[objects.trace[object]].name]);
return facts;
}
const kindText = ({kind, cause, of}) => {
if (kind === PART.run) return 'running';
if (kind === PART.ready && of) return cause ? 'ready, woken by ' : 'ready';
if (kind === PART.ready) return cause ? 'ready, loop held by ' : 'ready: ';
if (kind === PART.paused) return 'running others, inside it';
return kind === PART.wait ? 'waiting for ' : '';
};
function cellsOfPart(part, whole) {
const what = part.of ? [objectLink(part.of), ': '] : [];
what.push(kindText(part));
if (part.cause && part.kind !== PART.run) what.push(objectLink(part.cause));
if (part.text) what.push((part.cause ? ', ' : '') + part.text);
return [what, clocksText(part.clocks), shareText(part.clocks / whole)];
}
function splitBar(sums, whole) {
const shares = sums.map(([kind, c]) => `${kind} ${shareText(c / whole)}`);
const parts = sums.map(([kind, clocks]) => {
const part = make('span', {className: kind, title: kind});
part.style.width = `${(100 * clocks) / whole}%`;
return part;
});
const ariaLabel = shares.join(', ');
return make('div', {className: 'bar', role: 'img', ariaLabel}, ...parts);
}
function splitTable({parts, whole, stolen}) {
const kinds = new Map();
for (const part of parts)
kinds.set(part.kind, (kinds.get(part.kind) || 0) + part.clocks);
const rows = parts.slice(0, 24).map((part) => cellsOfPart(part, whole));
if (stolen)
rows.push([
'of this stolen by the hypervisor',
clocksText(stolen),
shareText(stolen / whole),
]);
return [splitBar([...kinds], whole), tableOf('split', [], rows)];
}
let pathKept = {object: 0, steps: []};
function currentPath() {
const object = view.chosen;
if (pathKept.object !== object) {
const steps = object ? criticalPath(object, model.objects.end[object]) : [];
pathKept = {object, steps};
}
return pathKept.steps;
}
function pathPart() {
const steps = currentPath(),
{parts, whole} = sharesOfPath(steps);
const words = `Critical path: ${countText(steps.length)} steps, `;
const toggle = button(view.path ? 'Hide it' : 'Draw it', togglePath, {
id: 'path-toggle',
title: 'Draw the critical path (k)',
});
const rows = parts.slice(0, 16).map((part) => cellsOfPart(part, whole));
return [
make('h3', {}, words, `${clocksText(whole)} `, toggle),
tableOf('path', [], rows),
];
}
function togglePath() {
view.path = !view.path;
changed('view');
showPanel();
}
const OPEN_MAX = 40;
function openPart() {
const {objects} = model,
list = [];
let resting = 0;
for (let o = 1; o < objects.count; ++o) {
if (isSystem(o) || objects.state[o] !== 0) continue;
if (objects.rests[o]) ++resting;
else list.push([stuckFor(o), o]);
}
list.sort((a, b) => b[0] - a[0] || a[1] - b[1]);
const rows = list
.slice(0, OPEN_MAX)
.map(([, object]) => [
[objectLink(object), sitePlace(object)],
standingOf(object).text,
]);
const more = [
list.length > OPEN_MAX ? `${countText(list.length - OPEN_MAX)} more` : '',
resting ? `${countText(resting)} that rest, as idle mutexes do` : '',
].filter(Boolean);
const parts = [];
if (rows.length) parts.push(tableOf('open', ['Still pending', 'For'], rows));
if (more.length)
parts.push(
make('p', {id: 'resting', textContent: `and ${more.join(', ')}`}),
);
return parts;
}
function showObject(panel) {
const object = view.chosen;
if (!object) {
panel.append(
make('p', 'Nothing is chosen: click an object, or use the arrow keys.'),
...openPart(),
);
return;
}
if (isSystem(object)) {
showSystem(panel, object);
return;
}
panel.append(
make('h2', objectName(object)),
listOfFacts(factsOf(object)),
make('h3', 'Its life'),
...splitTable(splitOf(object)),
...waitPart(object),
...pathPart(),
...stepPart(object),
make('h3', 'Events'),
eventTable(object),
);
}
function eventTable(object) {
const {arrows} = model,
rows = [];
each(by.out, object, (i) => rows.push([arrows.end[i], i, arrows.to[i], '→']));
each(by.into, object, (i) =>
rows.push([arrows.end[i], i, arrows.from[i], '←']),
);
rows.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
const cells = rows
.slice(0, 60)
.map(([time, i, other, sign]) => [
[`${arrowWords(ARROWS[arrows.type[i]])} ${sign} `, objectLink(other)],
timeText(time),
]);
if (rows.length > 60)
cells.push([`and ${countText(rows.length - 60)} more`, '']);
return tableOf('events', [], cells);
}
let panelWork = null; // ends what fills the panel
const rowOf = (cells) =>
make('tr', {}, ...cells.map((cell) => make('td', {}, ...[cell].flat())));
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
sum.open += Number(objects.state[o] === 0);
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
function picker(id, label, name) {
const select = make('select', {id, title: label});
for (const [value, textContent] of marksThere())
select.append(make('option', {value, textContent}));
select.value = view[name];
select.ariaLabel = label;
const change = () => {
view[name] = select.value;
keepHash();
showPanel();
};
return listen(select, {change});
}
function histogramChart(times) {
const bars = histogram(times),
most = Math.max(1, ...bars.map((bar) => bar[2]));
const svg = shape('svg', {
class: 'chart',
viewBox: `0 0 ${bars.length * 10} 100`,
preserveAspectRatio: 'none',
role: 'img',
'aria-label': 'Histogram of response times',
});
for (const [i, [from, to, count]] of bars.entries()) {
const height = (96 * count) / most,
[x, y] = [i * 10 + 0.5, 100 - height],
words = `${clocksText(from)} to ${clocksText(to)}: ${count}`,
place = {x, y, width: 9, height, fill: 'var(--density)'};
svg.append(shape('rect', place, shape('title', {}, words)));
}
return svg;
}
function percentileTable(times, open, clocks) {
const at = (part) => partText(times, part);
const seconds = clocks / model.head.clock_hz;
const mean = times.reduce((sum, time) => sum + time, 0) / times.length;
return listOfFacts([
['Pairs', countText(times.length)],
['Rate', `${(times.length / seconds).toPrecision(3)} a second`],
['Mean', clocksText(mean)],
['p50', at(0.5)],
['p90', at(0.9)],
['p99', at(0.99)],
['p99.9', at(0.999)],
['Longest', at(1)],
['Without an answer', countText(open)],
]);
}
const selectedTimes = () => view.range || [0, model.lastTime + 1];
function* timesAndCounts() {
const [begin, end] = selectedTimes();
const response = yield* responseTimes(view.mark, view.until, begin, end);
return {...response, counts: yield* countEvents(begin, end), begin, end};
}
function showTimes(panel) {
const result = make('div', {});
panel.append(
make(
'div',
{className: 'pickers'},
'From',
picker('mark', 'The event that begins', 'mark'),
'to',
picker('until', 'The event that ends', 'until'),
),
make(
'p',
'Of the same object, among what is shown' +
(view.range ? ', in the selected time.' : '.'),
),
result,
);
panelWork = inSlices(timesAndCounts(), (all) => {
const {times, open, counts, begin, end} = all;
if (times.length)
result.append(
percentileTable(times, open, end - begin),
histogramChart(times),
);
else result.append(make('p', 'There is no such pair.'));
const rows = [...counts].map((count, kind) => [
arrowWords(MARKS[kind] || 'label'),
countText(count),
countText((count * model.head.clock_hz) / (end - begin)),
]);
const seen = rows.filter((_, kind) => counts[kind]);
result.append(tableOf('counts', ['Event', 'Count', 'A second'], seen));
panel.dataset.done = 'yes';
});
}
const MARKS = [...ARROWS.slice(0, ARROW.failed_read), 'run'];
const LABELS = 256;
let marks = null;
function allMarks() {
if (marks) return marks;
const {edges, spans, labels} = model,
list = [];
for (let i = 0; i < edges.time.length; ++i)
list.push([edges.time[i], edges.kind[i], edges.to[i]]);
for (let i = 0; i < spans.count; ++i)
if (spans.state[i] === 1 && !isSystem(spans.object[i]))
list.push([spans.begin[i], MARKS.indexOf('run'), spans.object[i]]);
for (let i = 0; i < labels.count; ++i)
list.push([labels.time[i], LABELS + labels.name[i], labels.object[i]]);
list.sort((a, b) => a[0] - b[0]);
marks = {
time: Float64Array.from(list, (mark) => mark[0]),
kind: Int32Array.from(list, (mark) => mark[1]),
object: Int32Array.from(list, (mark) => mark[2]),
};
return marks;
}
function marksThere() {
const {head} = model,
kinds = new Set(allMarks().kind);
const labels = [...kinds].filter((kind) => kind >= LABELS).slice(0, 200);
return [
...MARKS.filter((_, kind) => kinds.has(kind)).map((mark) => [
mark,
arrowWords(mark),
]),
...labels
.map((kind) => head.names[kind - LABELS])
.map((name) => ['label:' + name, name]),
];
}
const markOf = (value) =>
value.startsWith('label:')
? LABELS + model.head.names.indexOf(value.slice(6))
: MARKS.indexOf(value);
const isCounted = (object) =>
!object || isSystem(object) || items.ofObject[object] >= 0;
function* responseTimes(from, to, begin, end) {
const {time, kind, object} = allMarks(),
kindFrom = markOf(from),
kindTo = markOf(to),
open = new Map(),
times = [];
for (let i = firstAtLeast(time, begin); time[i] < end; ++i) {
if (i % 8192 === 0) yield;
const o = object[i];
if (!isCounted(o)) continue;
if (kind[i] === kindTo && open.has(o)) {
times.push(time[i] - open.get(o));
open.delete(o);
}
if (kind[i] === kindFrom && !open.has(o)) open.set(o, time[i]);
}
return {times: Float64Array.from(times).sort(), open: open.size};
}
function* countEvents(begin, end) {
const {time, kind, object} = allMarks(),
counts = new Float64Array(MARKS.length + 1);
for (let i = firstAtLeast(time, begin); time[i] < end; ++i) {
if (i % 8192 === 0) yield;
if (isCounted(object[i])) ++counts[Math.min(kind[i], MARKS.length)];
}
return counts;
}
const percentile = (times, part) =>
times[Math.max(0, Math.ceil(part * times.length) - 1)];
function histogram(times, bars = 30) {
if (times.length === 0) return [];
const least = Math.max(1, times[0]),
most = Math.max(least * 1.01, times[times.length - 1]);
const unit = Math.log(most / least) / bars,
counts = new Array(bars).fill(0);
for (const time of times)
++counts[
Math.min(bars - 1, Math.floor(Math.log(Math.max(1, time) / least) / unit))
];
return counts.map((count, i) => [
least * Math.exp(i * unit),
least * Math.exp((i + 1) * unit),
count,
]);
}
const LEVEL = 17; // pixels
const THIN = 1; // pixels; thinner boxes are left out
let profile = null; // {tree, names, stackNode, samples}; null: no samples
async function loadStacks(columns) {
if (!columns.head.has_samples) return;
const strings = stringsOf(columns);
profile = {
tree: treeOf(columns),
names: functionsOf(columns, strings).names,
stackNode: Uint32Array.from(columns.changes('stack.node')),
samples: await samplesOf(columns),
shift: columns.head.samples_shift,
};
const {time} = profile.samples;
for (let i = 0; i < time.length; ++i) time[i] += profile.shift;
}
function stretches() {
const [begin, end] = selectedTimes();
if (!view.chosen || !hasSpans(view.chosen)) return [[begin, end]];
const list = [],
{spans} = model;
each(by.span, view.chosen, (i) => {
if (spans.state[i] !== 1) return;
const from = Math.max(begin, spans.begin[i]),
to = Math.min(end, spans.end[i]);
if (to > from) list.push([from, to]);
});
return list;
}
function weighStretches() {
const {tree, stackNode, samples} = profile,
self = new Float64Array(tree.count);
let count = 0;
const {time} = samples;
for (const [from, to] of stretches())
for (let i = firstAtLeast(time, from); time[i] < to; ++i) {
self[stackNode[samples.stack[i]]] += samples.clocks[i];
count += samples.samples[i];
}
const total = self.slice();
for (let node = tree.count - 1; node > 0; --node)
total[tree.parent[node]] += total[node];
const {names} = profile;
return {tree, names, self, total, whole: total[0], count};
}
const stackName = ({tree, names}, node) =>
tree.func[node] < 0 ? 'all' : names[tree.func[node]];
function icicle({tree, total, whole}, width) {
const boxes = [];
const place = (node, level, x) => {
const wide = (total[node] / whole) * width;
if (wide < THIN) return;
boxes.push([node, level, x, wide]);
const below = [];
for (let child = node + 1; child < tree.end[node]; child = tree.end[child])
if (total[child] > 0) below.push(child);
below.sort((a, b) => total[b] - total[a]);
for (const child of below) {
place(child, level + 1, x);
x += (total[child] / whole) * width;
}
};
place(0, 0, 0);
return boxes;
}
function icicleOf(weights, width) {
const boxes = icicle(weights, width),
levels = boxes.reduce((most, box) => Math.max(most, box[1]), 0) + 1;
const canvas = make('canvas', {id: 'icicle'}),
pen = sized(canvas, width, levels * LEVEL);
canvas.style.width = '';
for (const [node, level, x, wide] of boxes) {
pen.fillStyle = palette.density;
pen.globalAlpha = 0.3 + (0.12 * (node % 5)) / 2;
pen.fillRect(x, level * LEVEL, Math.max(1, wide - 1), LEVEL - 1);
pen.globalAlpha = 1;
pen.fillStyle = palette.ink;
const text =
wide > 24 ? clipped(pen, stackName(weights, node), wide - 6) : '';
if (text) pen.fillText(text, x + 3, level * LEVEL + LEVEL / 2);
}
const titleOf = (node) =>
`${stackName(weights, node)}: ${clocksText(weights.total[node])}, ` +
shareText(weights.total[node] / weights.whole);
const pointermove = ({offsetX, offsetY}) => {
const box = boxes.find(
([, level, x, wide]) =>
level === Math.floor(offsetY / LEVEL) &&
offsetX >= x &&
offsetX < x + wide,
);
canvas.title = box ? titleOf(box[0]) : '';
};
return listen(canvas, {pointermove});
}
function functionTable({tree, names, self, whole}) {
const sums = new Map();
for (let node = 1; node < tree.count; ++node)
if (self[node])
sums.set(tree.func[node], (sums.get(tree.func[node]) || 0) + self[node]);
const longest = [...sums].sort((a, b) => b[1] - a[1]).slice(0, 40);
const rows = longest.map(([f, clocks]) => [
names[f],
clocksText(clocks),
shareText(clocks / whole),
]);
return tableOf('functions', ['Function', 'Self', 'Share'], rows);
}
function whichStacks() {
const choice = (id, waits, words, title) => {
const ariaPressed = String(view.waits === waits);
return button(words, () => setWaits(waits), {id, title, ariaPressed});
};
const why = 'Time in which tasks did not run (v)';
return make(
'p',
{className: 'pickers'},
choice('stacks-samples', false, 'Running', 'Samples (v)'),
choice('stacks-waits', true, 'Waiting', why),
);
}
function setWaits(waits) {
view.waits = waits;
view.panel = 'stacks';
changed('view');
showPanel();
}
function putStacks(panel, weights, what) {
const whose = view.chosen ? objectName(view.chosen) : 'all objects',
when = view.range ? ' in the selected time' : '';
panel.append(
make('p', {id: 'stacks-of', textContent: `${what} of ${whose}${when}`}),
);
if (weights.whole > 0)
panel.append(icicleOf(weights, panel.clientWidth - 26));
}
function showWaits(panel) {
const list = view.chosen ? [view.chosen] : shownObjects();
panelWork = inSlices(waitTree(list), (weights) => {
const count = plural(weights.count, 'stretch', 'stretches');
putStacks(panel, weights, `${count}, ${clocksText(weights.whole)},`);
if (!hasWaits())
panel.append(make('p', `Functions are missing: ${STACKS_HINT}`));
panel.dataset.done = 'yes';
});
}
function showStacks(panel) {
panel.append(whichStacks());
if (view.waits) {
showWaits(panel);
return;
}
if (!profile) {
panel.append(make('p', 'The trace has no samples.'));
return;
}
const weights = weighStretches();
putStacks(panel, weights, samplesText(weights.count));
if (weights.whole > 0) panel.append(functionTable(weights));
}
const STACKS_HINT = 'prof.trace_stacks=32 records them.';
let waitNodes = null; // {parent, name}: of nodes from 1, 0 = none
function loadWaits(columns) {
const texts = stringsOf(columns, 'wait.bytes', 'wait.text'),
functions = columns.plain('wait.function');
waitNodes = {
parent: [0, ...columns.plain('wait.parent')],
name: ['', ...Array.from(functions, (f) => texts[f])],
};
}
const hasWaits = () => waitNodes.parent.length > 1;
function waitStack(node) {
const names = [];
for (let at = node; at > 0; at = waitNodes.parent[at])
names.push(waitNodes.name[at]);
return names;
}
function waitReason(i) {
const {spans, head} = model,
why = spans.why[i] ? head.names[spans.why[i]] : 'no reason',
other = spans.what[i];
return [why, other && !isSystem(other) ? `for ${siteName(other)}` : ''];
}
function waitsOf(object) {
const {spans} = model,
[from, to] = selectedTimes(),
sums = new Map();
each(by.span, object, (i) => {
const clocks = overlap(from, to, spans.begin[i], spans.end[i]);
if (spans.state[i] !== 3 || clocks <= 0) return;
const [why, what] = waitReason(i),
key = `${spans.stack[i]} ${why} ${what}`;
const names = waitStack(spans.stack[i]),
sum = sums.get(key) || {names, why, what, clocks: 0, count: 0};
sum.clocks += clocks;
++sum.count;
sums.set(key, sum);
});
return [...sums.values()].sort((a, b) => b.clocks - a.clocks);
}
function waitPart(object) {
const waits = waitsOf(object).slice(0, 12);
if (!waits.length) return [];
const rows = waits.map(({names, why, what, clocks, count}) => {
const frames = names.map((name) => make('li', name));
const stack = make('ol', {className: 'frames'}, ...frames);
const words = [why, what].filter(Boolean).join(', ');
return [[words, stack], countText(count), clocksText(clocks)];
});
const hint = make('p', `Stacks: ${STACKS_HINT}`);
return [
make('h3', 'Where it waits'),
tableOf('waits', ['Wait', 'Count', 'Time'], rows),
...(hasWaits() ? [] : [hint]),
];
}
function pathOfWait(i, wait) {
const {spans} = model,
path = [siteName(spans.object[i])];
if (wait >= 0) {
const [why, what] = waitReason(wait);
path.push(...waitStack(spans.stack[wait]).reverse(), why);
if (what) path.push(what);
} else path.push('not suspended');
path.push(spans.state[i] === 3 ? '[waiting]' : '[ready]');
return path;
}
const newNode = (name) => ({name, self: 0, count: 0, below: new Map()});
function addPath(root, path, clocks) {
let node = root;
for (const name of path) {
if (!node.below.has(name)) node.below.set(name, newNode(name));
node = node.below.get(name);
}
node.self += clocks;
++node.count;
}
function* waitTree(list) {
const {spans} = model,
[from, to] = selectedTimes(),
root = newNode('all');
for (const [n, object] of list.entries()) {
let wait = -1;
each(by.span, object, (i) => {
const state = spans.state[i];
if (state === 3) wait = i;
const clocks = overlap(from, to, spans.begin[i], spans.end[i]);
const isWait = [3, 4].includes(state);
if (isWait && clocks > 0) addPath(root, pathOfWait(i, wait), clocks);
if (state === 1) wait = -1;
});
if (n % 256 === 0) yield;
}
return weightsOfTree(root);
}
function weightsOfTree(root) {
const [names, self, total, end] = [[], [], [], []];
let count = 0;
const visit = (node) => {
const at = names.push(node.name) - 1;
self[at] = total[at] = node.self;
count += node.count;
for (const child of node.below.values()) total[at] += visit(child);
end[at] = names.length;
return total[at];
};
const whole = visit(root),
tree = {count: names.length, end, func: [...names.keys()]};
return {tree, names, self, total, whole, count};
}
const search = {found: [], at: -1};
function startSearch(words) {
view.search = words;
search.found = [];
search.at = -1;
let pattern = null;
try {
pattern = words ? new RegExp(words, 'i') : null;
$('words').ariaInvalid = null;
} catch (wrong) {
$('words').ariaInvalid = 'true';
}
if (pattern) findNames(pattern);
showMatched();
keepHash();
}
function findNames(pattern) {
const {objects, labels, head} = model;
const hit = Uint8Array.from(head.names, (name) => pattern.test(name)),
types = head.types.map((name) => pattern.test(name));
const found = new Uint8Array(objects.count);
for (let o = 1; o < objects.count; ++o)
if (!isSystem(o))
found[o] =
hit[objects.site[o]] ||
hit[objects.why[o]] ||
(objects.site[o] === 0 && types[objects.type[o]]) ||
pattern.test(String(objects.id[o]));
for (let i = 0; i < labels.count; ++i)
if (hit[labels.name[i]]) found[labels.object[i]] = 1;
found.forEach((is, o) => {
if (is) search.found.push(o);
});
}
function showMatched() {
const text = !view.search
? ''
: search.at < 0
? countText(search.found.length) + ' found'
: `${search.at + 1} of ${countText(search.found.length)}`;
$('matched').textContent = text;
}
function nextMatch(step) {
const {found} = search;
if (!found.length) return;
search.at = (search.at + step + found.length) % found.length;
showMatched();
choose(found[search.at]);
bringIntoSight(found[search.at]);
}
function clearSearch() {
$('words').value = '';
startSearch('');
}
const shown = {
canvas: null, // the finished picture
from: 0, // what it shows
to: 1,
stop: null, // ends the making of the next
isLate: false, // the next is out of date already
drag: null,
clicked: null, // the time of the last click, if nothing was chosen since
};
const FONT = '11.5px system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif';
function arrange() {
const box = $('picture');
port.width = Math.max(50, box.clientWidth);
port.height = Math.max(80, box.clientHeight);
}
function renewPicture() {
if (placing) return; // it follows
if (shown.stop) {
shown.isLate = true;
showPicture();
return;
}
const canvas = make('canvas'),
pen = sized(canvas, port.width, port.height);
const {from, to, focus} = view;
Object.assign(port, {from, to, focus});
document.body.dataset.painting = '';
let isDone = false;
const stop = inSlices(paintPicture(pen, projection(focus)), () => {
isDone = true;
Object.assign(shown, {canvas, from, to, stop: null});
showPicture();
document.body.dataset.painted = String(++paintedCount);
if (shown.isLate) renewSoon();
else delete document.body.dataset.painting;
shown.isLate = false;
});
if (isDone) return;
shown.stop = stop;
showPicture();
}
function stopPicture() {
if (shown.stop) shown.stop();
shown.stop = null;
}
let paintedCount = 0;
const renewSoon = perFrame(renewPicture);
function showPicture() {
const {width, height} = port,
pen = sized($('canvas'), width, height);
pen.fillStyle = palette.ground;
pen.fillRect(0, 0, width, height);
if (shown.canvas) {
const [from, to] = [shown.from, shown.to].map(xOf);
pen.drawImage(shown.canvas, from, 0, to - from, height);
}
paintRange(pen);
if (view.path) paintPath(pen);
}
function paintRange(pen) {
if (!view.range) return;
const [x0, x1] = view.range.map(xOf);
pen.fillStyle = palette.accent;
pen.globalAlpha = 0.14;
pen.fillRect(x0, 0, x1 - x0, port.height);
pen.globalAlpha = 1;
pen.fillRect(x0 - 1, 0, 2, port.height);
pen.fillRect(x1 - 1, 0, 2, port.height);
}
function paintPath(pen) {
const yOf = projection(view.focus);
pen.strokeStyle = palette.found;
pen.lineWidth = 3;
pen.beginPath();
for (const step of currentPath()) {
const row = rowOfObject(step.object);
if (row < 0) continue;
const y = yOf(row);
pen.lineTo(xOf(step.end), y);
pen.lineTo(xOf(step.begin), y);
}
pen.stroke();
}
const repaintSoon = perFrame(showPicture);
function objectAt(x, y) {
const yOf = projection(view.focus);
if (items.count === 0) return 0;
const row = rowOfY(y, yOf),
band = items.bandAt[row];
if (band >= 0) {
const group = items.group[band];
return lifeAt(groups[group].band, x, y) || -1 - group;
}
if (Math.abs(yOf(row) - y) > 16) return 0;
const slack = timeOf(x + 8) - timeOf(x),
time = timeOf(x);
let best = 0,
nearest = slack;
for (
let at = firstInRow(row, time - slack);
at < items.rowFrom[row + 1];
++at
) {
const i = items.byRow[at];
if (items.begin[i] > time + slack) break;
const away = Math.max(items.begin[i] - time, time - items.end[i], 0);
if (away > nearest) continue;
nearest = away;
best = items.group[i] >= 0 ? -1 - items.group[i] : items.object[i];
}
return best;
}
function pointAt(event) {
const box = $('canvas').getBoundingClientRect();
return [event.clientX - box.left, event.clientY - box.top];
}
function startDrag(event) {
const [x, y] = pointAt(event),
yOf = projection(view.focus);
$('canvas').setPointerCapture(event.pointerId);
shown.drag = {
x,
y,
from: view.from,
to: view.to,
row: items.count ? rowOfY(y, yOf) : 0,
selects: event.shiftKey,
moved: false,
};
}
function drag(event) {
const [x, y] = pointAt(event),
{drag: held} = shown;
if (Math.hypot(x - held.x, y - held.y) > 3) held.moved = true;
if (!held.moved) return;
if (held.selects) {
const ends = [timeOf(held.x), timeOf(x)].sort((a, b) => a - b);
view.range = ends[1] > ends[0] ? ends : null;
repaintSoon();
return;
}
const by = ((held.x - x) / port.width) * (held.to - held.from);
setTimes(held.from + by, held.to + by);
if (!rowsFit()) view.focus = focusFor(held.row, y);
changed('view');
}
function endDrag(event) {
const {drag: held} = shown;
shown.drag = null;
if (!held) return;
if (held.moved) {
if (held.selects) changed('range');
return;
}
const [x, y] = pointAt(event),
time = timeOf(x);
choose(objectAt(x, y));
shown.clicked = time;
}
function listenToFingers() {
const yIn = (y) => y - $('canvas').getBoundingClientRect().top;
let row = 0;
listenToPinch(
$('canvas'),
({y}) => {
shown.drag = null;
hideTip();
row = items.count ? rowOfY(yIn(y), projection(view.focus)) : 0;
},
({x, y, dx, dy, times}) => {
const by = (-dx / port.width) * (view.to - view.from);
zoomTo(times, x - $('canvas').getBoundingClientRect().left);
setTimes(view.from + times * by, view.to + times * by);
if (!rowsFit()) view.focus = focusFor(row, yIn(y + dy));
changed('view');
},
);
}
function listenToPicture() {
listenToFingers();
listen($('canvas'), {
pointerdown: startDrag,
pointermove: (event) => {
if (shown.drag) drag(event);
else showTip(objectAt(...pointAt(event)), event);
},
pointerup: endDrag,
pointercancel: () => {
shown.drag = null;
},
pointerleave: hideTip,
});
listenToWheel($('canvas'), pan, (times, event) => {
zoomTo(times, pointAt(event)[0]);
changed('view');
});
}
const pan = (part) => {
const by = part * (view.to - view.from);
setTimes(view.from + by, view.to + by);
changed('view');
};
const zoomBy = (times) => {
const object = view.chosen && rowOfObject(view.chosen) >= 0;
const middle =
shown.clicked !== null
? xOf(shown.clicked)
: object
? xOf((model.objects.begin[view.chosen] + endOf(view.chosen)) / 2)
: port.width / 2;
zoomTo(times, middle > 0 && middle < port.width ? middle : port.width / 2);
changed('view');
};
function walk(rows, along) {
const yOf = projection(view.focus);
if (!view.chosen || rowOfObject(view.chosen) < 0) {
let row = rowOfY(port.height / 2, yOf);
while (row > 0 && items.rowFrom[row] === items.rowFrom[row + 1]) --row;
chooseInRow(row, timeOf(port.width / 2));
return;
}
const item = items.ofObject[view.chosen],
row = items.rows[item];
if (along && items.group[item] >= 0) {
chooseInGroup(items.group[item], along);
return;
}
if (along) {
const {rowFrom, byRow} = items;
let at = rowFrom[row];
while (byRow[at] !== item) ++at;
at += along;
if (at >= rowFrom[row] && at < rowFrom[row + 1]) chooseItem(byRow[at]);
return;
}
const middle = (items.begin[item] + items.end[item]) / 2;
const next = rows > 0 ? row + items.tall[item] : row - 1;
chooseInRow(
clamp(next, 0, items.height - 1),
clamp(middle, view.from, view.to),
);
}
function chooseInGroup(group, along) {
const {band} = groups[group];
if (!band) return;
const o = band.byEnd[band.byEnd.indexOf(view.chosen) + along];
if (!o) return;
choose(o);
bringIntoSight(o);
}
function longestOf({shown}) {
const isSeen = (o) => endOf(o) >= view.from && endOf(o) <= view.to;
const seen = shown.filter(isSeen),
list = seen.length ? seen : shown;
return list.reduce((a, b) => (lifeOf(b) > lifeOf(a) ? b : a));
}
function chooseItem(item) {
const group = items.group[item],
object = group >= 0 ? longestOf(groups[group]) : items.object[item];
choose(object);
bringIntoSight(object);
}
function toggleGroup() {
const group = groups.findIndex(({members}) => members.includes(view.chosen));
if (group >= 0 && isLarge(groups[group])) choose(-1 - group);
}
function chooseInRow(at, time) {
const {rowFrom, byRow, bandAt, rows} = items,
row = bandAt[at] >= 0 ? rows[bandAt[at]] : at;
if (!items.height || rowFrom[row] === rowFrom[row + 1]) return;
const first = Math.min(firstInRow(row, time), rowFrom[row + 1] - 1);
chooseItem(byRow[first]);
}
const keyList = [
[['ArrowUp'], 'choose the object above', () => walk(-1, 0)],
[['ArrowDown'], 'choose the object below', () => walk(1, 0)],
[['ArrowLeft'], 'choose the previous one in the row', () => walk(0, -1)],
[['ArrowRight'], 'choose the next one in the row', () => walk(0, 1)],
[['a', 'd'], 'move in time', (key) => pan(key === 'a' ? -0.2 : 0.2)],
[
['w', 's', '+', '-'],
'zoom in or out, around the last click',
(key) => zoomBy('w+'.includes(key) ? 0.7 : 1 / 0.7),
],
[['0'], 'show all of the time', () => showAllTimes()],
[['Enter', 'z'], 'zoom to the chosen object', () => zoomToChosen()],
[
['[', ']'],
'begin or end the selection at the chosen object',
(key) => selectAt(key === ']'),
],
[['x'], 'select the life of the chosen object', () => selectChosen()],
[['b'], 'simplify continuations or not', () => toggle('simplified')],
[['e'], 'open or close the group of the chosen object', () => toggleGroup()],
[['g'], 'group alike objects or not', () => toggle('grouped')],
[['c'], 'draw counters or not', () => toggle('counters')],
[['i'], 'draw rows of interrupts or not', () => toggle('interrupts')],
[['k'], 'draw the critical path', () => togglePath()],
[['h'], 'hide the site of the chosen object', () => filterChosen('hidden')],
[['o'], 'show only that site', () => filterChosen('only')],
[['/'], 'search', () => $('words').select()],
[['n'], 'next match', () => nextMatch(1)],
[['N'], 'previous match', () => nextMatch(-1)],
[
['1', '2', '3', '4', '5', '6'],
'show a panel',
(key) => setPanel(PANELS[key - 1]),
],
[
['v'],
'show where tasks run, or where they wait',
() => setWaits(view.panel === 'stacks' && !view.waits),
],
[['t'], 'next theme', () => $('theme').click()],
[['p'], 'save a picture', () => savePng()],
[['r'], 'reset the view', () => resetView()],
[['?'], 'show this help', () => showHelp()],
[['Escape'], 'leave search, selection, choice', () => stepBack()],
];
const helpTexts = [
'Mouse: drag to move, turn the wheel to zoom in time, Shift and drag to ' +
'select a time, click an object for its details, click a group to open it.',
'Touch: drag to move, spread or pinch two fingers to zoom around them and ' +
'move them to move, tap to choose. The buttons + and \u2212 zoom around ' +
'the point that was last clicked or tapped.',
'A group of many alike objects shows how many exist (blue) and are ready ' +
'(orange), when one of them runs (white, below), and each life at its ' +
'end, the longer the higher; red ones failed. Click a life to choose it.',
'A line is an object from its creation to its end; it is white where it ' +
'runs, orange where it could run and something else held the loop. The ' +
'ground is darker while the loop was idle. Arrows slope by the delay ' +
'between their ends. A triangle: still pending.',
'The rows above are interrupts, one for each vector, and the event loop. A ' +
'mark is an interrupt while it is handled; it is orange from then on ' +
'until the work is begun that it left to an object. The loop is white ' +
'where it runs itself.',
'The address of this page includes the view: copy it to show someone the ' +
'same.',
];
let placing = null; // ends the layout that is being made
function changed(what) {
keepHash();
showButtons();
if (what === 'items') placeAll();
else renewSoon();
if (what === 'range') showPanel();
}
function placeAll(then) {
if (placing) placing();
stopPicture();
$('busy').hidden = false;
document.body.dataset.painting = '';
let isDone = false;
const stop = inSlices(placeItems(), () => {
isDone = true;
placing = null;
$('busy').hidden = true;
view.focus = Math.min(view.focus, Math.max(0, items.height - 1));
document.body.dataset.rows = String(items.height);
showFacts();
renewSoon();
if (then) then();
});
if (!isDone) placing = stop;
}
function showButtons() {
press('simplify', view.simplified);
press('group', view.grouped);
press('counters', view.counters);
press('interrupts', view.interrupts);
$('interrupts').hidden = model.irqs.count === 0;
$('counters').hidden = model.counters.size === 0;
for (const panel of PANELS)
$('tab-' + panel).ariaSelected = String(panel === view.panel);
const filters = [
...view.hidden.map((key) => ['hidden', key, 'not ']),
...view.only.map((key) => ['only', key, 'only ']),
...view.opened.map((key) => ['opened', key, 'open: ']),
];
$('filters').replaceChildren(
...filters.map(([list, key, words]) =>
button(`${words}${keyName(key)} ×`, () => toggleFilter(list, key), {
title: 'Remove this filter',
}),
),
);
}
function keyName(key) {
const number = Number(String(key).split(' ')[0]),
{head} = model;
return head.names[Math.floor(number / 64)] || head.types[number % 64];
}
function showFacts() {
const {head} = model,
objects =
model.objects.count - 1 - 2 * head.loops.length - head.vectors.length;
$('title').textContent = document.title = head.title;
$('facts').textContent =
`${countText(head.events)} events of ` +
`${plural(objects, 'object', 'objects')} in ` +
`${secondsText(model.lastTime / head.clock_hz)}, ` +
`${countText(items.height)} rows`;
const lost = model.losses.reduce((sum, {count}) => sum + count, 0);
const gaps = [
plural(lost, 'gap in the trace', 'gaps in the trace'),
'Events are missing there; nothing is drawn across it as known',
];
putNotes([...head.notes, ...(lost ? [gaps] : [])]);
}
function choose(object) {
shown.clicked = null;
if (object < 0) {
view.opened = toggled(view.opened, groups[-1 - object].key);
changed('items');
return;
}
view.chosen = object;
if (object) view.panel = 'object';
const row = object ? rowOfObject(object) : -1;
if (row >= 0 && !rowsFit()) view.focus = row;
$('spoken').textContent = object ? spokenOf(object) : '';
changed('view');
showPanel();
}
function spokenOf(object) {
const {objects, head} = model;
if (isSystem(object)) return systemText(object);
return (
`${objectName(object)}, ${head.types[objects.type[object]]}, ` +
(objects.state[object] === 0
? stateText(object)
: `${stateText(object)} after ` +
clocksText(endOf(object) - objects.begin[object]))
);
}
function bringIntoSight(object) {
const begin = family.begin[object],
end = endOf(object),
span = view.to - view.from;
if (end < view.from || begin > view.to) {
const middle = end - begin < span ? (begin + end) / 2 : begin + span / 3;
setTimes(middle - span / 2, middle + span / 2);
}
const row = rowOfObject(object);
if (row >= 0 && !rowsFit()) view.focus = row;
changed('view');
}
function zoomToChosen() {
if (!view.chosen) return;
const begin = family.begin[view.chosen],
room = Math.max(10, endOf(view.chosen) - begin);
setTimes(begin - 0.15 * room, begin + 1.15 * room);
changed('view');
}
function busyTimes() {
const {edges, spans} = model;
let from = Infinity,
to = 0;
for (const time of edges.time) {
from = Math.min(from, time);
to = Math.max(to, time);
}
for (let i = 0; i < spans.count; ++i) {
from = Math.min(from, spans.begin[i]);
if (!isSystem(spans.object[i])) to = Math.max(to, spans.end[i]);
}
if (!(to > from)) return [0, model.lastTime];
return [from - 0.01 * (to - from), to + 0.01 * (to - from)];
}
function showAllTimes() {
setTimes(...busyTimes());
changed('view');
}
function selectChosen() {
if (!view.chosen) return;
view.range = [model.objects.begin[view.chosen], endOf(view.chosen)];
changed('range');
}
function selectAt(isEnd) {
if (!view.chosen) return;
const [from, to] = view.range || [0, model.lastTime];
const range = isEnd
? [from, endOf(view.chosen)]
: [model.objects.begin[view.chosen], to];
if (range[1] > range[0]) view.range = range;
changed('range');
}
function filterChosen(list) {
if (view.chosen && !isSystem(view.chosen))
toggleFilter(list, alikeKey(view.chosen));
}
function toggle(what) {
view[what] = !view[what];
changed('items');
}
function setPanel(panel) {
view.panel = panel;
changed('view');
showPanel();
}
const SHOW_PANEL = {
object: showObject,
sites: showSites,
late: showLate,
interrupts: showInterrupts,
times: showTimes,
stacks: showStacks,
};
function showPanel() {
if (panelWork) panelWork();
panelWork = null;
const panel = $('panel');
panel.replaceChildren();
delete panel.dataset.done;
SHOW_PANEL[view.panel](panel);
}
function stepBack() {
if (view.search) {
clearSearch();
} else if (view.range) {
view.range = null;
changed('range');
} else choose(0);
}
function resetView() {
Object.assign(view, structuredClone(atStart));
clearSearch();
changed('items');
showPanel();
}
function showTip(object, event) {
if (!object) return hideTip();
if (object < 0) {
const group = groups[-1 - object],
count = countText(group.shown.length),
words = groupAt(group, timeOf(pointAt(event)[0]));
return putTip(
event,
make('b', `${count} objects of ${siteName(group.site)}`),
words + 'Click to open the group.',
);
}
if (isSystem(object)) {
const time = timeOf(pointAt(event)[0]);
return putTip(
event,
make('b', objectName(object)),
systemText(object, time),
...stepTexts(object, pointAt(event)[0]).map((text) => make('div', text)),
);
}
const begin = model.objects.begin[object],
end = endOf(object);
putTip(
event,
make('b', objectName(object)),
`${typeOf(object)}, ${stateText(object)}: ${timeText(begin)}` +
` to ${timeText(end)} (${clocksText(end - begin)})`,
...stepTexts(object, pointAt(event)[0]).map((text) => make('div', text)),
);
}
function checkList(id, names, words, isOn, act) {
$(id).replaceChildren(
...names.map((name, i) => {
const box = make('input', {type: 'checkbox', checked: isOn(name, i)});
return make(
'label',
{},
listen(box, {change: () => act(name, i)}),
words(name),
);
}),
);
}
function fillMenus() {
checkList(
'arrow-list',
arrowNames(),
arrowWords,
(name) => view.arrows.includes(name),
(name) => {
view.arrows = toggled(view.arrows, name);
changed('view');
},
);
checkList(
'state-list',
STATES,
(name) => name,
(name, i) => view.states === null || view.states.includes(i),
(name, i) => {
view.states = toggled(view.states || STATES.map((_, s) => s), i);
changed('items');
},
);
}
const LEGEND = [
['run', 'area', 'running'],
['ready', 'line', 'ready'],
['irq', 'area', 'interrupt', () => [model.irqs]],
['object', 'line', 'waiting, or pending'],
['idle', 'area', 'loop idle'],
['pause', 'area', 'pause', () => model.pauses],
['stolen-band', 'area', 'stolen', () => model.stolen],
['hatching', 'area', 'lost: unknown', () => model.losses],
];
function showLegend() {
const stripes =
`repeating-linear-gradient(135deg, ${palette.bad} 0 2px, ` +
`${palette.ground} 2px 5px)`;
$('legend').replaceChildren(
...LEGEND.filter(
([, , , lists]) => !lists || lists().some(({count}) => count),
).map(([name, kind, words]) =>
legendItem(name === 'hatching' ? stripes : palette[name], words, kind),
),
...arrowNames()
.slice(1)
.map((name, i) =>
legendItem(palette.arrows[i + 1], arrowWords(name), 'arrow'),
),
...(model.steps.count
? [legendItem(palette.counters[0], 'step of a counter', 'step')]
: []),
);
}
function savePng() {
$('canvas').toBlob((blob) => download(blob, 'timeline.png'));
}
function listenToButtons() {
const actions = {
'zoom-in': () => zoomBy(0.7),
'zoom-out': () => zoomBy(1 / 0.7),
'zoom-all': showAllTimes,
simplify: () => toggle('simplified'),
group: () => toggle('grouped'),
counters: () => toggle('counters'),
interrupts: () => toggle('interrupts'),
reset: resetView,
png: savePng,
'help-open': showHelp,
};
for (const panel of PANELS) actions['tab-' + panel] = () => setPanel(panel);
listenToClicks(actions);
}
function listenToWindow() {
new ResizeObserver(() => {
stopPicture();
arrange();
renewSoon();
}).observe($('picture'));
listen(window, {
theme: () => {
readTheme();
showLegend();
renewSoon();
},
hashchange: () => {
viewOfHash(location.hash);
changed('items');
showPanel();
},
});
}
async function begin() {
needCanvas();
const columns = await readPayload();
await loadModel(columns);
await finished(makeIndexes());
await loadStacks(columns);
loadWaits(columns);
arrange();
readTheme();
view.arrows = ARROWS.slice();
setTimes(...busyTimes());
Object.assign(atStart, structuredClone(view));
viewOfHash(location.hash);
await finished(placeItems());
document.body.dataset.rows = String(items.height);
showFacts();
showLegend();
fillMenus();
fillCounterMenu();
showButtons();
listenToPicture();
listenToButtons();
listenToSearch($('words'), $('canvas'));
listenToKeys();
listenToWindow();
if (view.search) {
$('words').value = view.search;
startSearch(view.search);
}
renewPicture();
showPanel();
document.body.dataset.ready = 'yes';
}
begin().catch(showFailure);
}
