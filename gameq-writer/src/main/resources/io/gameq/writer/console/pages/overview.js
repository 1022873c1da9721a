import { el, attempts, facts, liveTable, link, say } from '../dom.js';
import { get } from '../api.js';
import { advice } from '../advice.js';
import { chart } from '../chart.js';
import { statesTable } from '../states.js';
import { whole, figure, millis, bytes, count } from '../text.js';

/** How many looks the chart shows: one every 2 s, while the page is open. */
const MOST_LOOKS = 150;

/** A figure that is told with a name and a remark. */
function tile(name, target) {
  const value = el('dd', {}, '–');
  const more = el('dd', { class: 'more' });
  return {
    node: el('div', {}, el('dt', {}, target ? link(name, target) : name), value, more),
    update(text, remark = '') {
      say(value, text);
      say(more, remark);
    },
  };
}

/** What is wrong; said by screen readers when it changes. */
function attention() {
  const list = el('ul', {});
  const heading = el('h2', {});
  const node = el('section', { class: 'attention', 'aria-live': 'polite', 'aria-label': 'State' }, heading, list);
  let last = null;
  return {
    node,
    update(problems, toDo, isHeld) {
      const now = JSON.stringify([problems, toDo, isHeld]);
      if (now === last) {
        return;
      }
      last = now;
      const lines = [...problems, ...toDo];
      node.className = `attention ${problems.length ? 'bad' : lines.length || isHeld ? '' : 'good'}`;
      say(heading, problems.length ? '✕ Rows are not written' : lines.length ? '! Needs attention' : isHeld ? '! Held back' : '✓ All is well');
      list.replaceChildren(...lines.map((line) => el('li', {}, ...advice(line))));
      list.hidden = lines.length === 0;
    },
  };
}

export default {
  path: '',
  title: 'Overview',
  async show(root, context) {
    const state = attention();
    const held = statesTable('Held back: why, and what ends it; times in UTC', '', '', load);
    const slowly = attempts(el('p', {}));
    let owners = [];
    const tiles = {
      oldest: tile('Oldest row waits'), rows: tile('Rows wait', '#/slots'), owners: tile('Owners wait', '#/slots'),
      rate: tile('Rows written'), letters: tile('Dead letters', '#/dead'),
      merges: tile('Merge ratio'),
      stale: tile('Stale sessions', '#/stale'), redis: tile('Redis memory'),
    };
    const rates = chart('Rows written a second, by all writers', figure);
    const waiting = chart('Rows that wait', whole);
    const steps = liveTable('Steps since this writer started', [
      { label: 'Step', text: (of) => of.name.replaceAll('_', ' ') },
      { label: 'Times', num: true, text: (of) => whole(of.count) },
      { label: 'Mean', num: true, text: (of) => millis(of.mean) },
      { label: '99 of 100 within', num: true, text: (of) => millis(of.mostOf) },
      { label: 'Longest lately', num: true, text: (of) => millis(of.longest) },
    ], (of) => of.name, 'This writer has taken no step yet.');
    const server = el('div', { class: 'card' });
    root.append(state.node, held.node, el('dl', { class: 'tiles' }, Object.values(tiles).map((of) => of.node)),
      el('h2', {}, 'The last minutes'), el('div', { class: 'charts' }, rates.node, waiting.node),
      el('h2', {}, 'Steps'), steps.node, el('h2', {}, 'Redis, and this writer since it started'), server);

    const looks = [];
    context.every(10000, () => slowly(async () => {
      owners = (await get('held-owners')).states;
    }));
    await context.every(2000, load);

    async function load() {
      const page = await get('overview');
      looks.push({ ...page, atMillis: Date.now() });
      looks.splice(0, looks.length - MOST_LOOKS);
      rates.update(looks.map((of) => of.rowsPerSecond));
      waiting.update(looks.map((of) => of.waits?.rows ?? NaN));
      const states = [...page.held, ...owners];
      state.update(page.problems, page.toDo, states.length > 0);
      held.update(states);
      held.node.hidden = states.length === 0;
      showTiles(page);
      steps.update(page.steps);
      server.replaceChildren(facts(serverFacts(page)));
    }

    function showTiles(page) {
      const waits = page.waits;
      const about = waits?.rowsAreEstimated ? 'about, ' : '';
      const own = looks.length > 1 ? Math.max(0, page.totals.rows - looks.at(-2).totals.rows) * 1000 / (looks.at(-1).atMillis - looks.at(-2).atMillis) : NaN;
      tiles.oldest.update(waits ? (waits.oldestMillis === 0 ? 'none waits' : millis(waits.oldestMillis)) : '–');
      tiles.rows.update(waits ? whole(waits.rows) : '–', waits ? `${about}not claimed yet` : '');
      tiles.owners.update(waits ? whole(waits.due + waits.ready) : '–', waits ? `and ${whole(waits.claimed)} claimed` : '');
      tiles.rate.update(`${figure(page.rowsPerSecond)} /s`, `${page.writers === 0 ? 'all writers' : count(page.writers, 'writer')}; this one ${figure(own)} /s`);
      tiles.letters.update(page.deadLetters < 0 ? '–' : whole(page.deadLetters), 'counted once a minute');
      tiles.merges.update(figure(page.mergeRatio ?? NaN), 'committed for each row written');
      tiles.stale.update(waits ? whole(waits.staleSessions) : '–');
      tiles.redis.update(waits ? bytes(waits.redisUsedBytes) : '–', waits ? (waits.redisMaxBytes ? `of ${bytes(waits.redisMaxBytes)}` : 'no limit') : '');
    }

    function serverFacts({ waits, totals }) {
      return [
        ['Redis', waits ? `${waits.redis}, ${waits.redisPolicy}, ${count(waits.redisReplicas, 'replica')}` : 'no answer yet'],
        ['Closing', waits ? count(waits.closing, 'owner') : null],
        ['Healing', waits ? count(waits.healing, 'owner') : null],
        ['Leases ran out', waits ? count(waits.lapsed, 'claim') : null],
        ['Written', `${count(totals.rows, 'row')} in ${count(totals.flushes, 'flush').replace('flushs', 'flushes')}`],
        ['Given back', count(totals.givenBack, 'claim')],
        ['Reaped', count(totals.reaped, 'claim')],
        ['Set aside', count(totals.deadLetters, 'row')],
        ['Stale found', count(totals.stale, 'session')],
      ];
    }
  },
};
