import { el, button, field, link, liveTable, valuesOf, announce, say } from '../dom.js';
import { get, post, visitor } from '../api.js';
import { utc, count, plain } from '../text.js';
import { ownerAddress } from '../advice.js';

/** Letters of one request, as the writer allows. */
const CHUNK = 100;

const FILTERS = ['owner', 'table', 'code', 'error', 'since', 'state'];

export function stateMark(state) {
  const style = state === 'waiting' ? 'warn' : '';
  return el('span', { class: `mark ${style}` }, state);
}

export default {
  path: 'dead',
  title: 'Dead letters',
  async show(root, context) {
    const wanted = Object.fromEntries(FILTERS.map((name) => [name, context.params.get(name) ?? '']));
    const filter = el('form', { class: 'filter card', role: 'search', 'aria-label': 'Dead letters' },
      field({ name: 'owner', label: 'Owner', value: wanted.owner, placeholder: 'player:42' }),
      field({ name: 'table', label: 'Table', value: wanted.table }),
      field({ name: 'code', label: 'Error code', value: wanted.code, inputmode: 'numeric', pattern: '-?[0-9]{1,9}' }),
      field({ name: 'error', label: 'Error has', value: wanted.error }),
      field({ name: 'since', label: 'Refused since', value: wanted.since, placeholder: '2h, 3d, 2026-11-21', title: 'So long ago, or a day or time in UTC' }),
      field({ name: 'state', label: 'State', value: wanted.state, options: [['', 'any'], ['waiting', 'waiting'], ['superseded', 'superseded'], ['unknown', 'unknown']] }),
      el('button', { type: 'submit', class: 'primary' }, 'Filter'), link('All', '#/dead', { class: 'button' }));
    filter.addEventListener('submit', (event) => {
      event.preventDefault();
      const given = Object.entries(valuesOf(filter)).map(([name, value]) => [name, value.trim()]).filter(([, value]) => value !== '');
      const query = new URLSearchParams(given).toString();
      location.hash = query ? `#/dead?${query}` : '#/dead';
    });

    const selected = new Set();
    let letters = [];
    let next = 0;
    let total = '';
    const table = liveTable('Dead letters, the oldest first; times in UTC', [
      { label: 'Select', hidden: true, node: (of) => checkbox(of) },
      { label: 'Letter', node: (of) => link(`${of.id}`, `#/letter/${of.id}`, { 'aria-label': `Letter ${of.id}, ${plain(of.table)} ${plain(of.key)}` }) },
      { label: 'Table', text: (of) => plain(of.table) },
      { label: 'Key', node: (of) => link(plain(of.key), `#/trace?${new URLSearchParams({ table: of.table, key: of.key, owner: of.owner })}`, { 'aria-label': `Trace ${plain(of.table)} ${plain(of.key)}` }) },
      { label: 'Owner', node: (of) => link(plain(of.owner), ownerAddress(of.owner)) },
      { label: 'State', node: (of) => stateMark(of.state) },
      { label: 'Tries', num: true, text: (of) => String(of.attempts) },
      { label: 'Refused', together: true, text: (of) => utc(of.refusedAt) },
      { label: 'Error', wide: true, text: (of) => `${of.errorCode} ${plain(of.error)}` },
    ], (of) => `${of.id} ${of.version} ${of.state}`, 'There are no such dead letters.');
    const note = el('p', { role: 'status' });
    const became = el('div', { 'aria-live': 'polite' });
    const chosen = el('span', {});
    const retry = button('Retry', () => bulk('retry'), { class: 'primary' });
    const discard = button('Discard', () => bulk('discard'), { class: 'danger' });
    const all = el('input', { type: 'checkbox', id: 'select-all', onchange: () => selectAll(all.checked) });
    const bar = visitor().mayAct
      ? el('div', { class: 'buttons' }, el('span', { class: 'line-up' }, all, el('label', { for: 'select-all' }, 'All shown')), chosen, retry, discard)
      : el('p', { class: 'hint' }, visitor().whyNot);
    const more = button('More letters', () => load().catch((e) => announce(e.message)));
    root.append(filter, note, bar, became, table.node, more);
    await load();

    function checkbox(of) {
      return visitor().mayAct
        ? el('input', {
          type: 'checkbox', 'aria-label': `Select letter ${of.id}`, 'data-id': of.id,
          onchange: (event) => {
            event.target.checked ? selected.add(of.id) : selected.delete(of.id);
            showChosen();
          },
        })
        : null;
    }

    function selectAll(isChecked) {
      selected.clear();
      for (const box of table.node.querySelectorAll('input[data-id]')) {
        box.checked = isChecked;
        if (isChecked) {
          selected.add(Number(box.dataset.id));
        }
      }
      showChosen();
    }

    function showChosen() {
      say(chosen, `${selected.size} selected`);
      retry.disabled = selected.size === 0;
      discard.disabled = selected.size === 0;
    }

    async function load() {
      const page = await get('dead', { ...wanted, after: next });
      letters = [...letters, ...page.letters];
      next = page.next;
      total = page.total;
      show();
    }

    function show() {
      table.update(letters);
      more.hidden = next === 0;
      say(note, `${letters.length} of ${total}`);
      showChosen();
    }

    async function bulk(action) {
      const ids = [...selected];
      const isSure = await sure(action, ids.length);
      if (!isSure) {
        return;
      }
      retry.disabled = true;
      discard.disabled = true;
      const done = [];
      try {
        for (let at = 0; at < ids.length; at += CHUNK) {
          say(chosen, `${at} of ${ids.length} …`);
          done.push(...(await post(`dead-${action}`, { ids: ids.slice(at, at + CHUNK) })).letters);
        }
      } catch (e) {
        became.replaceChildren(el('p', { class: 'problem' }, `${e.message}: ${done.length} of ${ids.length} were done`));
      }
      showDone(done);
      const gone = new Set(done.filter((of) => of.isGone).map((of) => of.id));
      letters = letters.filter((of) => !gone.has(of.id));
      selected.clear();
      all.checked = false;
      for (const box of table.node.querySelectorAll('input[data-id]')) {
        box.checked = false;
      }
      show();
    }

    function showDone(done) {
      const kinds = new Map();
      done.forEach((of) => kinds.set(of.became, (kinds.get(of.became) ?? 0) + 1));
      const left = done.filter((of) => !of.isGone);
      const summary = [...kinds].map(([kind, number]) => `${number} ${kind}`).join(', ');
      became.append(el('section', { class: `attention ${left.length ? '' : 'good'}`, 'aria-label': 'What became of them' },
        el('h2', {}, `${left.length ? '!' : '✓'} ${count(done.length, 'letter')}: ${summary}`),
        el('ul', {}, left.slice(0, 20).map((of) => el('li', {}, `${plain(of.name)}: ${of.became}${of.why ? ` (${plain(of.why)})` : ''}`)))));
      while (became.children.length > 3) {
        became.firstChild.remove();
      }
    }
  },
};

/** Asks before many letters are retried or given up. */
export function sure(action, number) {
  return new Promise((resolve) => {
    const isDiscard = action === 'discard';
    const dialog = el('dialog', { 'aria-labelledby': 'sure-title', 'aria-describedby': 'sure-text' },
      el('h2', { id: 'sure-title' }, `${isDiscard ? 'Discard' : 'Retry'} ${count(number, 'dead letter')}?`),
      el('p', { id: 'sure-text' }, isDiscard
        ? 'Their rows are lost for good: nothing writes these versions again, nor older ones.'
        : 'Each row is written to MySQL by itself, never over a newer one. What is refused again stays.'));
    const leave = (answer) => {
      dialog.close();
      dialog.remove();
      resolve(answer);
    };
    dialog.append(el('div', { class: 'buttons' },
      button(isDiscard ? 'Discard' : 'Retry', () => leave(true), { class: isDiscard ? 'danger' : 'primary' }), button('Cancel', () => leave(false), { autofocus: true })));
    dialog.addEventListener('cancel', (event) => {
      event.preventDefault();
      leave(false);
    });
    document.getElementById('dialogs').append(dialog);
    dialog.showModal();
  });
}
