import { el, button, link, liveTable, say, announce } from '../dom.js';
import { get, post, visitor } from '../api.js';
import { utc, plain } from '../text.js';
import { act } from '../dialog.js';
import { advice, lettersAddress, ownerAddress } from '../advice.js';
import { statesTable } from '../states.js';

/** What will happen next, in one sentence. */
function nextOf(next, owner) {
  return el('section', { class: `attention ${next.isToAct ? '' : 'good'}`, 'aria-label': 'What happens next' },
    el('h2', {}, next.isToAct ? '! To be acted on' : '✓ Next'), el('p', {}, ...advice(next.sentence, owner)));
}

/** Lines of a name and a text; a name that is empty goes on with the one above. */
function linesOf(of) {
  return el('div', { class: 'table' }, el('table', { role: 'table' },
    el('caption', {}, `${plain(of.owner)}, slot ${of.slot}`),
    el('tbody', { role: 'rowgroup' }, of.lines.map(([name, text]) => el('tr', { role: 'row' },
      el('th', { scope: 'row', role: 'rowheader' }, name), el('td', { role: 'cell' }, plain(text)))))));
}

function whereOf(place) {
  return place.where.replace('_', ' ');
}

export default {
  path: 'trace',
  title: 'Trace',
  isHidden: true,
  under: 'owners',
  async show(root, context) {
    const owner = context.params.get('owner') ?? '';
    const table = context.params.get('table');
    const key = context.params.get('key');
    const problem = el('p', { class: 'problem', role: 'alert' });
    const body = el('div', {});
    const again = button('Look again', () => attempt(look));
    root.append(el('p', {}, link('Search', '#/owners')), problem, el('div', { class: 'buttons' }, again, owner && !table ? ofOwner() : null), body);
    await look();

    async function attempt(work) {
      say(problem, '');
      try {
        await work();
      } catch (e) {
        say(problem, e.message);
      }
    }

    async function look() {
      if (table) {
        showRow(await get('trace-row', { table, key, owner }));
      } else {
        showOwner(await get('trace', { owner }));
      }
      announce('Looked');
    }

    function ofOwner() {
      return [
        link('Its dead letters', lettersAddress(owner), { class: 'button' }),
        visitor().mayAct ? button('Write it now …', flush) : null,
      ];
    }

    async function flush() {
      const done = await act({
        title: `Write what ${plain(owner)} has now?`, text: 'Its rows are due at once instead of at the end of their merge window.',
        action: 'Write now', path: 'flush', body: () => ({ owner }),
      });
      if (done) {
        attempt(look);
      }
    }

    function showOwner(of) {
      say(root.querySelector('h1'), `Trace of ${plain(of.owner)}`);
      body.replaceChildren(nextOf(of.next, of.owner), ...heldOf(of), linesOf(of));
    }

    /** Nothing where nothing is held back. */
    function heldOf(of) {
      const states = statesTable('Held back: why, and what ends it; times in UTC', '', of.owner, () => attempt(look));
      states.update(of.held);
      return of.held.length ? [states.node] : [];
    }

    function showRow(of) {
      say(root.querySelector('h1'), `Trace of ${plain(of.row)}`);
      const places = liveTable('Versions of the row, and where they are; times in UTC', [
        { label: 'Where', text: (place) => whereOf(place) },
        { label: 'Owner', node: (place) => link(plain(place.owner), ownerAddress(place.owner)) },
        { label: 'Version', text: (place) => place.version },
        { label: 'Committed', together: true, text: (place) => (place.version === '0' ? '–' : utc(Number(BigInt(place.version) >> 16n))) },
        { label: 'It would', text: (place) => place.op || '–' },
        { label: 'Session', node: (place) => (place.letter ? link(`letter ${place.letter}`, `#/letter/${place.letter}`) : el('span', {}, plain(place.session))) },
        { label: 'Note', text: (place) => plain(place.note) },
      ], (place) => place.where + place.owner + place.version + (place.session ?? place.letter), 'No server has this row.');
      places.update(of.places);
      const values = of.places.filter((place) => Object.keys(place.columns ?? {}).length);
      body.replaceChildren(...[
        nextOf(of.next, owner), of.isManaged ? null : el('p', { class: 'hint' }, 'No row of a managed table has this key.'), places.node,
        visitor().mayRead && !of.hasValues && of.places.length
          ? button('Show values', () => attempt(async () => showRow(await post('trace-row-values', { table, key, owner }))), { title: 'This is in the audit log' }) : null,
        values.length ? columnsOf(values) : null, ...of.owners.flatMap((each) => [el('h2', {}, link(plain(each.owner), ownerAddress(each.owner))), nextOf(each.next, each.owner), ...heldOf(each), linesOf(each)]),
      ].filter((node) => node !== null));
    }

    function columnsOf(places) {
      const names = [...new Set(places.flatMap((place) => Object.keys(place.columns)))];
      return el('div', { class: 'table' }, el('table', { role: 'table' },
        el('caption', {}, 'Values, side by side'),
        el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, ['Column', ...places.map(whereOf), 'Differs'].map((name) => el('th', { scope: 'col', role: 'columnheader' }, name)))),
        el('tbody', { role: 'rowgroup' }, names.map((name) => {
          const all = places.filter((place) => name in place.columns).map((place) => place.columns[name]);
          const differs = new Set(all).size > 1;
          return el('tr', { role: 'row', class: differs ? 'differs' : null },
            el('th', { scope: 'row', role: 'rowheader' }, plain(name)),
            places.map((place) => el('td', { role: 'cell', class: 'code', 'data-label': whereOf(place) }, plain(place.columns[name] ?? '–'))),
            el('td', { role: 'cell', 'data-label': 'Differs' }, differs ? 'differs' : ''));
        }))));
    }
  },
};
