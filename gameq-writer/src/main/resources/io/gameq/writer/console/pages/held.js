import { el, button, field, announce } from '../dom.js';
import { get, visitor } from '../api.js';
import { plain } from '../text.js';
import { act } from '../dialog.js';
import { statesTable } from '../states.js';

const SCOPES = [['all', 'everything'], ['slot', 'a slot'], ['table', 'a table'], ['writer', 'a writer']];

function named(of) {
  return of.scope === 'all' ? 'everything' : `${of.scope} ${plain(of.name)}`;
}

export default {
  path: 'held',
  title: 'Held back',
  async show(root, context) {
    const states = statesTable('What is paused or parked; times in UTC', 'Nothing is paused, and no table is parked.', '', load);
    root.append(
      el('p', {}, 'What is paused is not claimed, or not written, until somebody resumes it; writers follow within about a second. Rows of a parked table wait until it is mended. All of them stay in Redis; others go on.'),
      visitor().mayAct ? buttons() : el('p', { class: 'hint' }, visitor().whyNot), states.node);
    await context.every(2000, load);

    async function load() {
      states.update((await get('held')).states);
    }

    function buttons() {
      const wanted = el('form', { class: 'filter card', 'aria-label': 'Pause something' },
        field({ name: 'scope', label: 'Pause', options: SCOPES, value: context.params.get('scope') ?? 'all' }),
        field({ name: 'name', label: 'Slot number, table or writer', value: context.params.get('name') ?? '' }),
        el('button', { type: 'submit' }, 'Pause …'), button('Write all now …', flush));
      const scope = wanted.elements.scope;
      const name = wanted.elements.name;
      const fit = () => { name.disabled = scope.value === 'all'; name.required = !name.disabled; };
      scope.addEventListener('change', fit);
      fit();
      wanted.addEventListener('submit', (event) => {
        event.preventDefault();
        pause({ scope: scope.value, name: scope.value === 'all' ? '' : name.value.trim() });
      });
      return wanted;
    }

    async function pause(of) {
      const done = await act({
        title: `Pause ${named(of)}?`,
        text: 'Nothing of it is written until it is resumed. Commits go on, and wait in Redis.',
        fields: [{ name: 'reason', label: 'Reason, for others who ask', required: true, maxlength: 255 }],
        action: 'Pause', danger: true, path: 'pause', body: ({ reason }) => ({ ...of, reason }),
      });
      if (done) {
        await load();
      }
    }

    async function flush() {
      const done = await act({
        title: 'Write all that waits now?', text: 'Rows are due at once instead of at the end of their merge windows. What is paused stays so.',
        action: 'Write now', path: 'flush', body: () => ({}),
      });
      if (done) {
        announce(done.isDone ? 'Nothing waits' : `Due now: ${done.text}`);
      }
    }
  },
};
