import { el, link, liveTable, say } from '../dom.js';
import { get, visitor } from '../api.js';
import { whole, millis, plain } from '../text.js';

export default {
  path: 'slots',
  title: 'Slots',
  async show(root, context) {
    const note = el('p', {});
    const columns = [
      { label: 'Slot', num: true, text: ({ waiting: of }) => String(of.slot) },
      { label: 'Due', num: true, text: ({ waiting: of }) => whole(of.due) },
      { label: 'Ready', num: true, text: ({ waiting: of }) => whole(of.ready) },
      { label: 'Claimed', num: true, text: ({ waiting: of }) => whole(of.claimed) },
      { label: 'Leases ran out', num: true, text: ({ waiting: of }) => whole(of.lapsed) },
      { label: 'Oldest row', num: true, text: ({ waiting: of }) => (of.oldestMillis === 0 ? '–' : millis(age(of))) },
      { label: 'Stale', num: true, text: ({ waiting: of }) => whole(of.stale) },
      { label: 'Healing', num: true, text: ({ waiting: of }) => whole(of.healing) },
      { label: 'Foreign', num: true, text: ({ waiting: of }) => whole(of.foreign) },
      { label: 'Paused', wide: true, text: (of) => (of.pause ? plain(of.pause) : 'no') },
    ];
    if (visitor().mayAct) {
      columns.push({ label: 'Pause', together: true, node: ({ waiting: of }) => link('Pause …', `#/held?scope=slot&name=${of.slot}`, { 'aria-label': `Pause or resume slot ${of.slot}` }) });
    }
    const table = liveTable('Slots with rows, or paused; the oldest first', columns, (of) => of.waiting.slot, 'Nothing waits in any slot.');
    root.append(note, table.node);
    await context.every(3000, async () => {
      const page = await get('slots');
      say(note, page.of === 0
        ? 'Redis was not looked at yet.'
        : `${page.slots.length} of ${page.of} slots have something to tell. Due: owners whose merge window lasts or is over; ready: next; claimed: a writer has their rows.`);
      table.update(page.slots.sort((a, b) => age(b.waiting) - age(a.waiting) || a.waiting.slot - b.waiting.slot));
    });
  },
};

function age(of) {
  return of.oldestMillis === 0 ? 0 : of.nowMillis - of.oldestMillis;
}
