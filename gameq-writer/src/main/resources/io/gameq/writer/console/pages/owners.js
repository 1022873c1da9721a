import { el, attempts, field, link, liveTable, valuesOf, say } from '../dom.js';
import { get, post, visitor } from '../api.js';
import { utc, plain } from '../text.js';
import { ownerAddress, lettersAddress } from '../advice.js';

function search(label, fields, action, found) {
  const form = el('form', { class: 'filter card', role: 'search', 'aria-label': label }, fields.map(field), el('button', { type: 'submit', class: 'primary' }, action));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    location.hash = found(Object.fromEntries(Object.entries(valuesOf(form)).map(([name, value]) => [name, value.trim()])));
  });
  return form;
}

/** By a text in a row, such as a name: a value, so it is not in the address. */
function byText() {
  const problem = el('p', { class: 'problem', role: 'alert' });
  const attempt = attempts(problem);
  const column = field({ name: 'column', label: 'Column', options: [], required: true });
  const form = el('form', { class: 'filter', role: 'search', 'aria-label': 'By a text in a row' }, column,
    field({ name: 'how', label: 'Which', options: [['whole', 'is'], ['beginning', 'begins with']], value: 'whole' }),
    field({ name: 'text', label: 'Text', required: true, placeholder: 'Bob' }), el('button', { type: 'submit', class: 'primary' }, 'Find'));
  const note = el('p', { role: 'status' });
  const found = el('ul', {});
  const hint = el('p', { class: 'hint' }, 'Columns of text that an index begins with: no table is read whole. What MySQL has is searched, not what waits in Redis. The search is in the audit log, without the text.');
  const node = el('section', { class: 'card', 'aria-label': 'By a text in a row', hidden: true }, form, hint, problem, note, found);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const { column: of, how, text } = valuesOf(form);
    const [table, name] = JSON.parse(of);
    attempt(async () => {
      const page = await post('owners-having', { table, column: name, text, beginning: how === 'beginning' ? true : null });
      say(note, page.more ? `${page.owners.length} of the first rows; there may be others` : `${page.owners.length} found`);
      found.replaceChildren(...page.owners.map((owner) => el('li', {}, link(plain(owner), ownerAddress(owner)))));
    });
  });
  return {
    node,
    fill: () => attempt(async () => {
      const { columns } = await get('columns');
      column.querySelector('select').append(...columns.map((of) => el('option', { value: JSON.stringify([of.table, of.column]) }, `${plain(of.table)}.${plain(of.column)}`)));
      node.hidden = columns.length === 0;
    }),
  };
}

export default {
  path: 'owners',
  title: 'Owners',
  async show(root, context) {
    const q = context.params.get('q') ?? '';
    const having = byText();
    const note = el('p', { role: 'status' });
    const table = liveTable('Owners that were opened at some time; times in UTC', [
      { label: 'Owner', node: (of) => link(plain(of.owner), ownerAddress(of.owner)) },
      { label: 'Opened last by node', text: (of) => plain(of.node) || '(not known)' },
      { label: 'Opened', together: true, text: (of) => utc(of.openedMillis) },
      { label: 'Dead letters', node: (of) => link('dead letters', lettersAddress(of.owner), { 'aria-label': `Dead letters of ${plain(of.owner)}` }) },
    ], (of) => of.owner, 'There is no such owner.');
    root.append(
      search('Owners', [{ name: 'q', label: 'Owner begins with', value: q, placeholder: 'player:42', type: 'search' }], 'Search',
        (of) => `#/owners?${new URLSearchParams(of)}`),
      search('A row', [{ name: 'table', label: 'Row of table', required: true }, { name: 'key', label: 'Primary key', required: true, placeholder: '42,3' }, { name: 'owner', label: 'Owner, if you know it', placeholder: 'player:42' }],
        'Trace the row', (of) => `#/trace?${new URLSearchParams(of)}`),
      having.node, note, table.node);
    if (visitor().mayRead) {
      having.fill();
    }
    const page = await get('owners', { q });
    table.update(page.owners);
    say(note, page.more ? `The first ${page.owners.length}: write more of the id` : `${page.owners.length} found`);
  },
};
