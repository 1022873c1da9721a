import { el, say } from '../dom.js';
import { get } from '../api.js';
import { advice } from '../advice.js';
import { recordTable } from '../table.js';

export default {
  path: 'fleet',
  title: 'Nodes and writers',
  async show(root, context) {
    const writers = recordTable('Writers, as they say of themselves every 3 s', 'No writer says that it runs.');
    const nodes = recordTable('Game nodes, as they say of themselves every 3 s', 'No node says that it runs.');
    const list = el('ul', {});
    const toDo = el('section', { class: 'attention', 'aria-live': 'polite', 'aria-label': 'To be acted on', hidden: true }, el('h2', {}, '! Needs attention'), list);
    const note = el('p', {});
    root.append(note, toDo, el('h2', {}, 'Writers'), writers.node, el('h2', {}, 'Nodes'), nodes.node,
      el('p', { class: 'hint' }, 'Waiting: commits that Redis has not answered; journaled: those of them that the WAL has; oldest: how long the oldest change waits that is not known to be in MySQL.'));
    await context.every(3000, async () => {
      const page = await get('fleet');
      say(note, page.isKnown ? '' : 'Nobody was looked at yet.');
      writers.update(page.writers);
      nodes.update(page.nodes);
      if (list.dataset.text !== page.toDo.join('\n')) {
        list.dataset.text = page.toDo.join('\n');
        list.replaceChildren(...page.toDo.map((line) => el('li', {}, ...advice(line))));
      }
      toDo.hidden = page.toDo.length === 0;
    });
  },
};
