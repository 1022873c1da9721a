import { el, link, say } from '../dom.js';
import { get, visitor } from '../api.js';
import { recordTable } from '../table.js';

export default {
  path: 'slots',
  title: 'Slots',
  async show(root, context) {
    const note = el('p', {});
    const more = visitor().mayAct ? [{ label: 'Pause', together: true, node: ({ cells: [slot] }) => link('Pause …', `#/held?scope=slot&name=${slot}`, { 'aria-label': `Pause or resume slot ${slot}` }) }] : [];
    const table = recordTable('Slots with rows, or paused; the oldest first', 'Nothing waits in any slot.', more);
    root.append(note, table.node);
    await context.every(3000, async () => {
      const page = await get('slots');
      say(note, page.of === 0
        ? 'Redis was not looked at yet.'
        : `${page.slots.rows.length} of ${page.of} slots have something to tell. Due: owners whose merge window lasts or is over; ready: next; claimed: a writer has their rows.`);
      table.update(page.slots);
    });
  },
};
