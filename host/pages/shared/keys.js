// SPDX-License-Identifier: Apache-2.0
// Keys: what one does, and the dialog that lists them. A page has (keyList), of
// [keys, words, action] each, and (helpTexts).

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

// What a key that was pressed does, null = nothing here: it is typed, it
// presses a button, or it is the browser's. (keyList) is the page's.
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

// Listens to keys. (taken) may take one that does something elsewhere.
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
