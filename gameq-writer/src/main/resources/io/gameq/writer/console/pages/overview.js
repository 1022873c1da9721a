import { el, attempts, facts, liveTable, link, say } from '../dom.js';
import { get } from '../api.js';
import { advice } from '../advice.js';
import { chart } from '../chart.js';
import { statesTable } from '../states.js';
import { whole, figure, millis, shortMillis, bytes, count } from '../text.js';

const MOST_SPAN_MILLIS = 15 * 60 * 1000;
const LEAST_SPAN_MILLIS = 2 * 60 * 1000;
const MOST_BEATS = 450;

/** Of two beats of one process, what a rising count rose by within a second. */
function rate(before, now, of) {
  const seconds = (now.atMillis - before.atMillis) / 1000;
  const rose = of(now) - of(before);
  return seconds > 0 && rose >= 0 ? rose / seconds : NaN;
}

/** What processes tell every few seconds rises in steps: a rate is over so many beats. */
const SMOOTH_BEATS = 8;

function rates(beats, of) {
  return beats.slice(1).map((beat, at) => [beat.atMillis, rate(beats[Math.max(0, at + 1 - SMOOTH_BEATS)], beat, of)]);
}

/** The same of all nodes or writers together, where it is known. */
function ofFleet(beats, of) {
  return rates(beats, ({ fleet }) => (fleet ? of(fleet) : NaN));
}

/** The mean of a step between two beats; nothing where it was not taken. */
function means(beats, step) {
  return beats.slice(1).map((beat, at) => {
    const now = beat.steps[step];
    const before = beats[at].steps[step] ?? { count: 0, millis: 0 };
    const taken = now ? now.count - before.count : 0;
    return [beat.atMillis, taken > 0 ? (now.millis - before.millis) / taken : NaN];
  });
}

function known(beats, of) {
  return beats.map((beat) => [beat.atMillis, of(beat) < 0 ? NaN : of(beat)]);
}

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
      rate: tile('Rows written'), flushes: tile('Flushes'), letters: tile('Dead letters', '#/dead'),
      merges: tile('Merge ratio'),
      stale: tile('Stale sessions', '#/stale'), redis: tile('Redis memory'),
    };
    const charts = {
      commits: chart({ title: 'Committed a second, by all nodes', show: figure, series: [{ name: 'rows', style: '' }, { name: 'commits', style: 'second' }] }),
      rows: chart({ title: 'Rows written a second', show: figure, series: [{ name: 'all writers', style: '' }, { name: 'this one', style: 'second' }] }),
      flushes: chart({ title: 'Flushes a second', show: figure, series: [{ name: 'all writers', style: '' }, { name: 'this one', style: 'second' }] }),
      waits: chart({ title: 'What waits', show: figure, series: [{ name: 'rows', style: '' }, { name: 'owners', style: 'second' }] }),
      oldest: chart({ title: 'Age of the oldest row', show: millis, axis: shortMillis, series: [{ name: 'age', style: '' }] }),
      steps: chart({ title: 'Latency of this writer, mean', show: millis, axis: shortMillis, series: [{ name: 'claim', style: 'second' }, { name: 'flush', style: '' }, { name: 'ack', style: 'third' }] }),
      share: chart({ title: 'Rows a flush', show: figure, series: [{ name: 'all writers', style: '' }] }),
    };
    const steps = liveTable('Steps since this writer started', [
      { label: 'Step', text: (of) => of.name.replaceAll('_', ' ') },
      { label: 'Times', num: true, text: (of) => whole(of.count) },
      { label: 'Mean', num: true, text: (of) => millis(of.mean) },
      { label: '99 of 100 within', num: true, text: (of) => millis(of.mostOf) },
      { label: 'Longest lately', num: true, text: (of) => millis(of.longest) },
    ], (of) => of.name, 'This writer has taken no step yet.');
    const server = el('div', { class: 'card' });
    root.append(state.node, held.node, el('dl', { class: 'tiles' }, Object.values(tiles).map((of) => of.node)),
      el('h2', {}, 'The last quarter of an hour'), el('div', { class: 'charts' }, Object.values(charts).map((of) => of.node)),
      el('h2', {}, 'Steps'), steps.node, el('h2', {}, 'Redis, and this writer since it started'), server);

    let beats = [];
    context.every(10000, () => slowly(async () => {
      owners = (await get('held-owners')).states;
    }));
    await context.every(2000, load);

    async function load() {
      const page = await get('overview', { after: beats.length ? beats[beats.length - 1].number : 0 });
      if (page.beats.length && beats.length && page.beats[0].number <= beats[beats.length - 1].number) {
        beats = []; // another process: its beats begin anew
      }
      beats = [...beats, ...page.beats].slice(-MOST_BEATS);
      const states = [...page.held, ...owners];
      state.update(page.problems, page.toDo, states.length > 0);
      held.update(states);
      held.node.hidden = states.length === 0;
      showTiles(page);
      showCharts();
      steps.update(page.steps);
      server.replaceChildren(facts(serverFacts(page)));
    }

    function showTiles(page) {
      const waits = page.waits;
      const about = waits && !waits.exact ? 'about, ' : '';
      const latest = beats.slice(-SMOOTH_BEATS - 1);
      const fleet = (of) => figure(ofFleet(latest, of).at(-1)?.[1] ?? NaN);
      const own = (of) => figure(rates(latest, of).at(-1)?.[1] ?? NaN);
      const writers = page.writers === 0 ? 'all writers' : count(page.writers, 'writer');
      tiles.oldest.update(waits ? (waits.oldestMillis === 0 ? 'none waits' : millis(waits.oldestMillis)) : '–');
      tiles.rows.update(waits ? whole(waits.rows) : '–', waits ? `${about}not claimed yet` : '');
      tiles.owners.update(waits ? whole(waits.due + waits.ready) : '–', waits ? `and ${whole(waits.claimed)} claimed` : '');
      tiles.rate.update(`${fleet((of) => of.rows)} /s`, `${writers}; this one ${own((of) => of.rows)} /s`);
      tiles.flushes.update(`${fleet((of) => of.flushes)} /s`, `${writers}; this one ${own((of) => of.flushes)} /s`);
      tiles.letters.update(page.deadLetters < 0 ? '–' : whole(page.deadLetters), 'counted once a minute');
      tiles.merges.update(figure(page.mergeRatio ?? NaN), 'committed for each row written');
      tiles.stale.update(waits ? whole(waits.stale) : '–');
      tiles.redis.update(waits ? bytes(waits.redis.usedBytes) : '–', waits ? (waits.redis.mostBytes ? `of ${bytes(waits.redis.mostBytes)}` : 'no limit') : '');
    }

    function showCharts() {
      const past = beats.length ? beats[beats.length - 1].atMillis - beats[0].atMillis : 0;
      const span = Math.min(MOST_SPAN_MILLIS, Math.max(LEAST_SPAN_MILLIS, past));
      charts.commits.update([ofFleet(beats, (of) => of.committedRows), ofFleet(beats, (of) => of.commits)], span);
      charts.rows.update([ofFleet(beats, (of) => of.rows), rates(beats, (of) => of.rows)], span);
      charts.flushes.update([ofFleet(beats, (of) => of.flushes), rates(beats, (of) => of.flushes)], span);
      charts.waits.update([known(beats, (of) => of.waitingRows), known(beats, (of) => of.waitingOwners)], span);
      charts.oldest.update([known(beats, (of) => of.oldestMillis)], span);
      charts.steps.update(['claiming', 'flushing', 'acknowledging'].map((step) => means(beats, step)), span);
      const flushes = ofFleet(beats, (of) => of.flushes);
      charts.share.update([ofFleet(beats, (of) => of.rows).map(([at, rows], number) =>
        [at, flushes[number][1] > 0 ? rows / flushes[number][1] : NaN])], span);
    }

    function serverFacts({ waits, totals }) {
      const redis = waits?.redis;
      return [
        ['Redis', redis ? `${redis.version}, ${redis.policy}, ${count(redis.replicas, 'replica')}` : 'no answer yet'],
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
