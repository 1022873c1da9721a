import { el, button, liveTable, announce } from '../dom.js';
import { get } from '../api.js';
import { utc, plain } from '../text.js';

export default {
  path: 'audit',
  title: 'Audit log',
  async show(root, context) {
    const table = liveTable('What operators did, the newest first; times in UTC', [
      { label: 'When', together: true, text: (of) => utc(of.atMillis) },
      { label: 'Who', text: (of) => plain(of.who) },
      { label: 'By', text: (of) => plain(of.via) },
      { label: 'What', text: (of) => plain(of.action) },
      { label: 'To', wide: true, text: (of) => plain(of.target) },
      { label: 'Detail', wide: true, text: (of) => plain(of.detail) },
    ], (of) => of.id, 'Nobody did anything yet.');
    const more = button('Older entries', async () => {
      try {
        const page = await get('audit', { before: next });
        add(page);
        announce(`${page.entries.length} more entries`);
      } catch (e) {
        announce(e.message);
      }
    });
    let entries = [];
    let next = '';
    function add(page) {
      entries = [...entries, ...page.entries];
      next = page.next;
      table.update(entries);
      more.hidden = next === '';
    }
    root.append(el('p', {}, 'Each entry was written before it was done. Entries older than 400 days are removed.'), table.node, more);
    add(await get('audit', { before: context.params.get('before') }));
  },
};
