import { el, field, link, liveTable, valuesOf, say } from '../dom.js';
import { get } from '../api.js';
import { utc, plain } from '../text.js';
import { ownerAddress } from './trace.js';

function search(label, fields, action, found) {
  const form = el('form', { class: 'filter card', role: 'search', 'aria-label': label }, fields.map(field), el('button', { type: 'submit', class: 'primary' }, action));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    location.hash = found(Object.fromEntries(Object.entries(valuesOf(form)).map(([name, value]) => [name, value.trim()])));
  });
  return form;
}

export default {
  path: 'owners',
  title: 'Owners',
  async show(root, context) {
    const q = context.params.get('q') ?? '';
    const note = el('p', { role: 'status' });
    const table = liveTable('Owners that were opened at some time; times in UTC', [
      { label: 'Owner', node: (of) => link(plain(of.owner), ownerAddress(of.owner)) },
      { label: 'Opened last by node', text: (of) => plain(of.node) || '(not known)' },
      { label: 'Opened', together: true, text: (of) => utc(of.openedMillis) },
      { label: 'Dead letters', node: (of) => link('dead letters', `#/dead?${new URLSearchParams({ owner: of.owner })}`, { 'aria-label': `Dead letters of ${plain(of.owner)}` }) },
    ], (of) => of.owner, 'There is no such owner.');
    root.append(
      search('Owners', [{ name: 'q', label: 'Owner begins with', value: q, placeholder: 'player:42', type: 'search' }], 'Search',
        (of) => `#/owners?${new URLSearchParams(of)}`),
      search('A row', [{ name: 'table', label: 'Row of table', required: true }, { name: 'key', label: 'Primary key', required: true, placeholder: '42,3' }, { name: 'owner', label: 'Owner, if you know it', placeholder: 'player:42' }],
        'Trace the row', (of) => `#/trace?${new URLSearchParams(of)}`),
      note, table.node);
    const page = await get('owners', { q });
    table.update(page.owners);
    say(note, page.more ? `The first ${page.owners.length}: write more of the id` : `${page.owners.length} found`);
  },
};
