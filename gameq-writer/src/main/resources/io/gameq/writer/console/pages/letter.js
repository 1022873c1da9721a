import { el, attempts, button, facts, field, link, say, announce } from '../dom.js';
import { get, post, formId, visitor } from '../api.js';
import { utc, plain } from '../text.js';
import { ownerAddress } from '../advice.js';
import { stateMark, sure } from './dead.js';

const HIDDEN = '•••';

export default {
  path: 'letter',
  title: 'Dead letter',
  isHidden: true,
  under: 'dead',
  async show(root, context) {
    const id = Number(context.rest[0]);
    const body = el('div', {});
    const problem = el('p', { class: 'problem', role: 'alert' });
    const attempt = attempts(problem);
    root.append(el('p', {}, link('All dead letters', '#/dead')), problem, body);
    show(await get(`dead/${id}`));

    function show(detail) {
      const of = detail.letter;
      document.title = `Letter ${id} · gameq`;
      say(root.querySelector('h1'), `Dead letter ${id}`);
      body.replaceChildren(
        el('div', { class: 'card' }, facts([
          ['Table', plain(of.table)], ['Key', plain(of.key)],
          ['Owner', link(plain(of.owner), ownerAddress(of.owner))], ['State', stateMark(of.state)],
          ['Version', of.version], ['Tries', String(of.attempts)], ['Refused', `${utc(of.refusedAt)} UTC`],
          ['Error', `${of.errorCode} ${plain(of.error)}`], ['It would', detail.op === 'put' ? 'write the row' : detail.op],
          ['MySQL has', detail.there || null],
        ])),
        buttons(detail), detail.undecodable ? el('p', { class: 'attention bad' }, plain(detail.undecodable)) : columns(detail));
    }

    function buttons(detail) {
      const of = visitor();
      return el('div', { class: 'buttons' },
        of.mayAct ? button('Retry', () => attempt(() => finish('retry')), { class: 'primary' }) : null,
        of.mayRead && !detail.hasValues && !detail.undecodable
          ? button('Show values', () => attempt(async () => show(await post('dead-values', { ids: [id] }))), { title: 'This is in the audit log' }) : null,
        of.mayAct && detail.hasValues && detail.op === 'put' ? button('Edit', () => edit(detail)) : null,
        of.mayAct ? button('Discard', () => attempt(() => finish('discard')), { class: 'danger' }) : null,
        link('Trace the row', `#/trace?${new URLSearchParams({ table: detail.letter.table, key: detail.letter.key, owner: detail.letter.owner })}`, { class: 'button' }),
        of.mayAct ? null : el('span', { class: 'hint' }, of.whyNot));
    }

    async function finish(action) {
      if (!await sure(action, 1)) {
        return;
      }
      const [done] = (await post(`dead-${action}`, { ids: [id] })).letters;
      const text = done ? `${done.became}${done.why ? `: ${plain(done.why)}` : ''}` : 'it is not there any more';
      if (done && !done.isGone) {
        show(await get(`dead/${id}`));
        problem.textContent = text;
        return;
      }
      body.replaceChildren(el('section', { class: 'attention good' }, el('h2', {}, `✓ Letter ${id}: ${text}`)));
      announce(`Letter ${id}: ${text}`);
    }

    function columns(detail) {
      const value = (text, isThere) => (isThere ? (detail.hasValues ? plain(text ?? '') : HIDDEN) : '–');
      const lines = detail.columns.map((of) => el('tr', { role: 'row', class: of.differs ? 'differs' : null },
        el('th', { scope: 'row', role: 'rowheader' }, plain(of.name)),
        el('td', { role: 'cell', class: 'code', 'data-label': 'Refused' }, value(of.refused, of.named)),
        el('td', { role: 'cell', class: 'code', 'data-label': 'In MySQL' }, detail.hasValues ? plain(of.present ?? '–') : HIDDEN),
        el('td', { role: 'cell', 'data-label': 'Differs' }, of.differs ? 'differs' : of.named ? '' : 'kept as it is')));
      return el('div', { class: 'table' }, el('table', { role: 'table' },
        el('caption', {}, detail.hasValues ? 'The row, beside the one that MySQL holds' : 'The row, beside the one that MySQL holds; values are hidden'),
        el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, ['Column', 'Refused', 'In MySQL', 'Differs'].map((name) => el('th', { scope: 'col', role: 'columnheader' }, name)))),
        el('tbody', { role: 'rowgroup' }, lines)));
    }

    function edit(detail) {
      const editable = detail.columns.filter((of) => of.editable);
      const inputs = new Map();
      const nulls = new Map();
      let id2 = formId();
      id2.catch((e) => { problem.textContent = e.message; });
      const form = el('form', { class: 'card', 'aria-label': 'Edit the row' },
        el('h2', {}, 'Edit the row'),
        el('p', { class: 'hint' }, 'Key, owner and version stay. Nothing is written until you retry. The audit log has the names of the columns, not the values.'),
        editable.map((of) => {
          const line = field({ name: of.name, label: plain(of.name), value: of.edit ?? '', multiline: true, rows: 1 });
          const input = line.querySelector('textarea');
          const isNull = el('input', { type: 'checkbox', id: `null-${of.name}`, onchange: () => { input.disabled = isNull.checked; } });
          isNull.checked = of.named && of.edit === null;
          input.disabled = isNull.checked;
          inputs.set(of.name, input);
          nulls.set(of.name, isNull);
          return el('div', { class: 'edit' }, line, el('span', { class: 'line-up' }, isNull, el('label', { for: isNull.id }, 'NULL')));
        }),
        el('div', { class: 'buttons' }, el('button', { type: 'submit', class: 'primary' }, 'Save'), button('Cancel', () => show(detail))));
      form.addEventListener('submit', (event) => {
        event.preventDefault();
        const changed = {};
        for (const of of editable) {
          const now = nulls.get(of.name).checked ? null : inputs.get(of.name).value;
          if (now !== of.edit && !(now === '' && !of.named)) {
            changed[of.name] = now;
          }
        }
        attempt(async () => {
          try {
            show(await post('dead-edit', { ids: [id], revision: detail.revision, columns: changed }, await id2));
            announce(`Letter ${id} was edited`);
          } catch (e) {
            if (e.status !== 0) {
              id2 = formId();
              id2.catch(() => {});
            }
            throw e;
          }
        });
      });
      body.append(form);
      form.querySelector('textarea')?.focus();
    }
  },
};
