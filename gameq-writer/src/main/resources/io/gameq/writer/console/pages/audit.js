import { el, button, announce } from '../dom.js';
import { get } from '../api.js';
import { recordTable } from '../table.js';

export default {
  path: 'audit',
  title: 'Audit log',
  async show(root, context) {
    const table = recordTable('What operators did, the newest first; times in UTC', 'Nobody did anything yet.');
    const more = button('Older entries', async () => {
      try {
        const page = await get('audit', { before: next });
        add(page);
        announce(`${page.entries.rows.length} more entries`);
      } catch (e) {
        announce(e.message);
      }
    });
    let rows = [];
    let next = '';
    function add(page) {
      rows = [...rows, ...page.entries.rows];
      next = page.next;
      table.update({ headings: page.entries.headings, rows });
      more.hidden = next === '';
    }
    root.append(el('p', {}, 'Each entry was written before it was done. Entries older than 400 days are removed.'), table.node, more);
    add(await get('audit', { before: context.params.get('before') }));
  },
};
