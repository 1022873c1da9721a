import { el, attempts, button, link, liveTable, announce, say } from '../dom.js';
import { get, post, visitor } from '../api.js';
import { whole, bytes, utc, plain, count } from '../text.js';
import { act } from '../dialog.js';
import { ownerAddress } from '../advice.js';

export default {
  path: 'stale',
  title: 'Stale sessions',
  async show(root, context) {
    const note = el('p', { role: 'status' });
    const problem = el('p', { class: 'problem', role: 'alert' });
    const rows = el('div', {});
    const more = button('More sessions', () => load().catch((e) => announce(e.message)));
    let sessions = [];
    let next = '';
    const table = liveTable('Sessions with stale rows; times in UTC', [
      { label: 'Owner', node: (of) => link(plain(of.owner), ownerAddress(of.owner)) },
      { label: 'Session', text: (of) => of.session },
      { label: 'Rows', num: true, text: (of) => whole(of.rows) },
      { label: 'Size', num: true, text: (of) => `${of.isAbout ? '~' : ''}${bytes(of.bytes)}` },
      { label: 'Newest', together: true, text: (of) => (of.rows === 0 ? '–' : utc(of.newest)) },
      { label: 'State', text: (of) => (of.ownsNow ? 'owns now' : 'lost') },
      { label: 'Actions', node: (of) => actions(of) },
    ], (of) => of.session + of.owner, 'There are no stale rows.');
    root.append(el('p', {}, 'Committed by a session after another one had taken its owner over. These rows lie in Redis and are never flushed, unless the session owns again.'),
      note, problem, table.node, more, rows);
    await load();

    async function load() {
      const page = await get('stale', { after: next });
      const shown = new Set(page.sessions.map((of) => of.session + of.owner));
      sessions = [...sessions.filter((of) => !shown.has(of.session + of.owner)), ...page.sessions];
      next = page.next;
      table.update(sessions);
      more.hidden = next === '';
      say(note, sessions.length < page.count ? `${whole(sessions.length)} of ${count(page.count, 'session')}` : count(page.count, 'session'));
    }

    function actions(of) {
      return el('div', { class: 'line-up' },
        visitor().mayRead ? button('Show rows', () => showRows(of), { 'aria-label': `Show rows of ${plain(of.owner)}`, title: 'This is in the audit log' }) : null,
        visitor().mayAct ? button('Discard', () => discard(of), { class: 'danger', 'aria-label': `Discard rows of ${plain(of.owner)}` }) : null);
    }

    async function showRows(of) {
      await attempts(problem)(async () => {
        const page = await post('stale-values', { owner: of.owner, session: of.session });
        const shown = liveTable(`Rows of ${plain(of.owner)}, session ${of.session}`, [
          { label: 'Row', text: (row) => plain(row.key) },
          { label: 'It would', text: (row) => row.op || 'cannot be decoded' },
          { label: 'Version', text: (row) => row.version },
          { label: 'Values', wide: true, text: (row) => plain(row.undecodable ?? row.columns.map((column) => (column.named ? `${column.name} = ${column.refused}` : `${column.name} is kept`)).join(', ')) },
        ], (row) => row.key, 'It has no rows.');
        shown.update(page.rows);
        rows.replaceChildren(el('h2', {}, 'Rows'), shown.node);
        announce(`${page.rows.length} of ${count(page.count, 'row')} are shown`);
      });
    }

    async function discard(of) {
      const done = await act({
        title: `Discard the stale rows of ${plain(of.owner)}?`,
        text: `${count(of.rows, 'row')} will be removed from Redis for good.`,
        action: 'Discard', danger: true, path: 'stale-discard',
        body: () => ({ owner: of.owner, session: of.session }),
      });
      if (done) {
        rows.replaceChildren();
        sessions = [];
        next = '';
        await load();
        announce(`${done.rows} rows were discarded`);
      }
    }
  },
};
