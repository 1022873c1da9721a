import { el, button, field, liveTable, say, announce } from '../dom.js';
import { get, visitor } from '../api.js';
import { utc, plain } from '../text.js';
import { act } from '../dialog.js';

const SCOPES = [['all', 'everything'], ['slot', 'a slot'], ['table', 'a table'], ['writer', 'a writer']];

function named(of) {
  return of.scope === 'all' ? 'everything' : `${of.scope} ${plain(of.name)}`;
}

export default {
  path: 'held',
  title: 'Held back',
  async show(root, context) {
    const columns = [
      { label: 'Paused', text: named },
      { label: 'Why', wide: true, text: (of) => plain(of.reason) },
      { label: 'By', text: (of) => plain(of.by) },
      { label: 'Since', together: true, text: (of) => utc(of.atMillis) },
    ];
    if (visitor().mayAct) {
      columns.push({ label: 'Resume', node: (of) => button('Resume', () => resume(of), { 'aria-label': `Resume ${named(of)}` }) });
    }
    const pauses = liveTable('What operators paused; times in UTC', columns, (of) => `${of.scope} ${of.name} ${of.atMillis}`, 'Nothing is paused.');
    const parked = liveTable('Parked tables of this writer: they take no rows now, which is tried again every 5 s', [
      { label: 'Table', text: (of) => plain(of.table) },
      { label: 'Why', wide: true, text: (of) => plain(of.reason) },
    ], (of) => of.table, 'No table is parked by this writer.');
    root.append(
      el('p', {}, 'What is paused is not claimed, or not written, until somebody resumes it; writers follow within about a second. Its rows stay in Redis.'),
      visitor().mayAct ? buttons() : el('p', { class: 'hint' }, visitor().whyNot), pauses.node,
      el('h2', {}, 'Parked tables'), el('p', {}, 'Rows of a parked table stay in Redis; rows of other tables go on. Mend the table: it goes on by itself.'), parked.node);
    await context.every(2000, load);

    async function load() {
      const page = await get('held');
      pauses.update(page.pauses);
      parked.update(page.parked);
    }

    function buttons() {
      const wanted = el('form', { class: 'filter card', 'aria-label': 'Pause something' },
        field({ name: 'scope', label: 'Pause', options: SCOPES, value: context.params.get('scope') ?? 'all' }),
        field({ name: 'name', label: 'Slot number, table or writer', value: context.params.get('name') ?? '' }),
        el('button', { type: 'submit' }, 'Pause …'), button('Write all now …', flush));
      const scope = wanted.elements.scope;
      const name = wanted.elements.name;
      const fit = () => { name.disabled = scope.value === 'all'; name.required = !name.disabled; };
      scope.addEventListener('change', fit);
      fit();
      wanted.addEventListener('submit', (event) => {
        event.preventDefault();
        pause({ scope: scope.value, name: scope.value === 'all' ? '' : name.value.trim() });
      });
      return wanted;
    }

    async function pause(of) {
      const done = await act({
        title: `Pause ${named(of)}?`,
        text: 'Nothing of it is written until it is resumed. Commits go on, and wait in Redis.',
        fields: [{ name: 'reason', label: 'Reason, for others who ask', required: true, maxlength: 255 }],
        action: 'Pause', danger: true, path: 'pause', body: ({ reason }) => ({ ...of, reason }),
      });
      if (done) {
        await load();
      }
    }

    async function resume(of) {
      const done = await act({
        title: `Resume ${named(of)}?`, text: `It was paused: ${plain(of.reason)}`, action: 'Resume', path: 'resume',
        body: () => ({ scope: of.scope, name: of.name }),
      });
      if (done) {
        await load();
      }
    }

    async function flush() {
      const done = await act({
        title: 'Write all that waits now?', text: 'Rows are due at once instead of at the end of their merge windows. What is paused stays so.',
        action: 'Write now', path: 'flush', body: () => ({}),
      });
      if (done) {
        announce(done.isDone ? 'Nothing waits' : `Due now: ${done.text}`);
      }
    }
  },
};
