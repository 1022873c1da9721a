import { el, liveTable, say } from '../dom.js';
import { get } from '../api.js';
import { advice } from '../advice.js';
import { whole, figure, millis, bytes, plain } from '../text.js';

/** How long ago, by the writer's clock. */
function ago(now, then) {
  return then === 0 ? '–' : millis(Math.max(0, now - then));
}

export default {
  path: 'fleet',
  title: 'Nodes and writers',
  async show(root, context) {
    let now = 0;
    const process = [
      { label: 'Name', text: (of) => plain(of.sign.process.name) },
      { label: 'State', text: (of) => of.state },
      { label: 'Host', text: (of) => `${plain(of.sign.process.host)}, pid ${of.sign.process.pid}` },
      { label: 'Version', text: (of) => plain(of.sign.process.version) },
      { label: 'Up', num: true, text: (of) => (of.isThere ? ago(now, of.sign.process.startedMillis) : '–') },
    ];
    const writers = liveTable('Writers, as they say of themselves every 3 s', [
      ...process,
      { label: 'Workers', num: true, text: (of) => whole(of.sign.work.workers) },
      { label: 'Claims', num: true, text: (of) => whole(of.sign.work.claims) },
      { label: 'Rows', num: true, text: (of) => whole(of.sign.work.rows) },
      { label: 'Rows/s', num: true, text: (of) => figure(of.sign.work.rowsPerSecond) },
      { label: 'Last flush', num: true, text: (of) => ago(now, of.sign.work.flushedMillis) },
      { label: 'MySQL', text: (of) => (of.sign.outage ? 'away' : 'there') },
    ], (of) => of.id, 'No writer says that it runs.');
    const nodes = liveTable('Game nodes, as they say of themselves every 3 s', [
      ...process,
      { label: 'Sessions', num: true, text: (of) => whole(of.sign.sessions.sessions) },
      { label: 'Lost', num: true, text: (of) => whole(of.sign.sessions.sessionsLost) },
      { label: 'Waiting', num: true, text: (of) => whole(of.sign.commits.waiting) },
      { label: 'Journaled', num: true, text: (of) => whole(of.sign.wal.journaled) },
      { label: 'WAL', num: true, text: (of) => bytes(of.sign.wal.walBytes) },
      { label: 'Oldest', num: true, text: (of) => (of.sign.wal.oldestMillis === 0 ? '–' : millis(of.sign.wal.oldestMillis)) },
      { label: 'Healed', num: true, text: (of) => (of.sign.healings.healedMillis === 0 ? 'never' : `${ago(now, of.sign.healings.healedMillis)} ago`) },
      { label: 'Conflicts', num: true, text: (of) => whole(of.sign.healings.conflicts) },
    ], (of) => of.id, 'No node says that it runs.');
    const list = el('ul', {});
    const toDo = el('section', { class: 'attention', 'aria-live': 'polite', 'aria-label': 'To be acted on', hidden: true }, el('h2', {}, '! Needs attention'), list);
    const note = el('p', {});
    root.append(note, toDo, el('h2', {}, 'Writers'), writers.node, el('h2', {}, 'Nodes'), nodes.node,
      el('p', { class: 'hint' }, 'Waiting: commits that Redis has not answered; journaled: those of them that the WAL has; oldest: how long the oldest change waits that is not known to be in MySQL.'));
    await context.every(3000, async () => {
      const page = await get('fleet');
      now = page.nowMillis;
      say(note, page.isKnown ? '' : 'Nobody was looked at yet.');
      writers.update(page.writers);
      nodes.update(page.nodes);
      const lines = [...page.writers, ...page.nodes].flatMap((of) => of.toDo);
      if (list.dataset.text !== lines.join('\n')) {
        list.dataset.text = lines.join('\n');
        list.replaceChildren(...lines.map((line) => el('li', {}, ...advice(line))));
      }
      toDo.hidden = lines.length === 0;
    });
  },
};
