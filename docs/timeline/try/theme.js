// SPDX-License-Identifier: Apache-2.0
'use strict';
{
const THEMES = ['auto', 'light', 'dark'];
const KEY = 'parasite theme';
function keptTheme() {
try {
const kept = localStorage.getItem(KEY);
return THEMES.includes(kept) ? kept : 'auto';
} catch (refused) {
return 'auto';
}
}
function keepTheme(theme) {
try {
localStorage.setItem(KEY, theme);
} catch (refused) {
}
}
let theme = keptTheme();
function showTheme() {
const button = document.getElementById('theme');
if (theme === 'auto') delete document.documentElement.dataset.theme;
else document.documentElement.dataset.theme = theme;
if (button) {
button.textContent = 'Theme: ' + theme;
button.hidden = false;
}
dispatchEvent(new Event('theme'));
}
showTheme();
addEventListener('DOMContentLoaded', showTheme);
addEventListener('click', (event) => {
if (!event.target.closest('#theme')) return;
theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
keepTheme(theme);
showTheme();
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () =>
dispatchEvent(new Event('theme')),
);
}
