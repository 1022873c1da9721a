import { el, button, field, link, liveTable, say } from '../dom.js';
import { get, visitor } from '../api.js';
import { utc, millis, whole, plain } from '../text.js';
import { act } from '../dialog.js';
import { advice } from '../advice.js';

const STATES = ['pending', 'ready', 'held', 'dead'];

export function messageAddress(topic, of) {
  return `#/message/${topic}?${new URLSearchParams(of.group === null ? { key: of.key } : { key: of.key, group: of.group })}`;
}

export default {
  path: 'topics',
  title: 'Topics',
  async show(root, context) {
    const topic = context.rest[0];
    if (topic) {
      await one(root, context, topic);
    } else {
      await all(root, context);
    }
  },
};

async function all(root, context) {
  const toDo = el('div', { 'aria-live': 'polite' });
  const table = liveTable('Topics; a group that is due counts once', [
    { label: 'Topic', node: (of) => link(plain(of.topic), `#/topics/${encodeURIComponent(of.topic)}`) },
    { label: 'Pending', num: true, text: (of) => whole(of.pending) },
    { label: 'Due', num: true, text: (of) => whole(of.due) },
    { label: 'Held', num: true, text: (of) => whole(of.held) },
    { label: 'Tried again', num: true, text: (of) => whole(of.retrying) },
    { label: 'Dead', num: true, text: (of) => whole(of.dead) },
    { label: 'Oldest due', num: true, text: (of) => (of.overdueMillis ? millis(of.overdueMillis) : '–') },
    { label: 'Paused', wide: true, text: (of) => (of.pause ? `by ${plain(of.pause.by)}: ${plain(of.pause.reason)}` : '') },
    { label: 'Limited to', wide: true, text: (of) => plain(of.rate) },
    { label: 'Definition', wide: true, text: (of) => plain(of.error || of.definition) },
  ], (of) => of.topic, 'There are no topics yet: the first node that opens one defines it.');
  root.append(toDo, table.node);
  await context.every(2000, async () => {
    const page = await get('topics');
    table.update(page.topics);
    const text = page.toDo.join('\n');
    if (toDo.dataset.text !== text) {
      toDo.dataset.text = text;
      toDo.replaceChildren(...page.toDo.map((line) => el('p', { class: 'attention bad' }, ...advice(line))));
    }
  });
}

async function one(root, context, topic) {
  const state = STATES.includes(context.params.get('state')) ? context.params.get('state') : 'pending';
  say(root.querySelector('h1'), `Topic ${plain(topic)}`);
  const filter = el('form', { class: 'filter card', 'aria-label': 'Messages' },
    field({ name: 'state', label: 'Messages that are', value: state, options: STATES.map((of) => [of, of]) }),
    field({ name: 'key', label: 'Find a key', value: '' }), field({ name: 'group', label: 'in group', value: '' }),
    el('button', { type: 'submit', class: 'primary' }, 'Show'));
  filter.addEventListener('submit', (event) => {
    event.preventDefault();
    const key = filter.elements.key.value;
    const group = filter.elements.group.value;
    location.hash = key === ''
      ? `#/topics/${encodeURIComponent(topic)}?state=${filter.elements.state.value}`
      : messageAddress(encodeURIComponent(topic), { key, group: group === '' ? null : group });
  });
  const line = el('p', { role: 'status' });
  const paused = el('p', {});
  const limited = el('p', {});
  const when = { pending: 'Due', ready: 'Due', held: 'Lease ends', dead: 'Died' }[state];
  const table = liveTable(`Messages that are ${state}; times in UTC`, [
    { label: 'Key', node: (of) => link(plain(of.key), messageAddress(encodeURIComponent(topic), of)) },
    { label: 'Group', text: (of) => plain(of.group ?? '') },
    { label: when, together: true, text: (of) => utc(of.millis) },
    { label: 'Attempts', num: true, text: (of) => String(of.attempts) },
    { label: 'Bytes', num: true, text: (of) => (of.content ? whole(of.content.payloadBytes) : '?') },
    state === 'held' ? { label: 'Node', text: (of) => plain(of.node) } : { label: 'Behind it', num: true, text: (of) => whole(of.behind) },
    { label: 'Error', wide: true, text: (of) => plain(of.error) },
  ], (of) => `${of.group ?? ''} ${of.key} ${of.content?.version ?? ''}`, 'There are no such messages.');
  const more = button('More messages', () => load(false));
  const change = el('div', { class: 'buttons' });
  root.append(el('p', {}, link('All topics', '#/topics')), line, paused, limited, change, filter, table.node, more);
  let messages = [];
  let next = '';
  await load(true);

  async function load(isFirst) {
    const page = await get(`topics/${encodeURIComponent(topic)}`, { state, after: isFirst ? '' : next });
    messages = isFirst ? page.page.messages : [...messages, ...page.page.messages];
    next = page.page.next;
    table.update(messages);
    more.hidden = next === '';
    const of = page.topic;
    say(line, `${whole(of.pending)} pending, ${whole(of.due)} due${of.overdueMillis ? `, the oldest for ${millis(of.overdueMillis)}` : ''}, ${whole(of.held)} held, ${whole(of.retrying)} failed and tried again, ${whole(of.dead)} dead. ${plain(of.definition)}`);
    say(paused, of.pause ? `Paused by ${plain(of.pause.by)} since ${utc(of.pause.at)}: ${plain(of.pause.reason)}` : '');
    say(limited, of.rate ? `Limited to ${plain(of.rate)}` : '');
    change.replaceChildren(...(visitor().mayAct ? [of.pause ? button('Resume …', resume) : button('Pause …', pause)] : [el('span', { class: 'hint' }, visitor().whyNot)]));
  }

  async function pause() {
    if (await act({
      title: `Pause topic ${plain(topic)}?`,
      text: 'Consumers take nothing of it until it is resumed; what is held is finished. Publishing goes on, and messages wait in Redis.',
      fields: [{ name: 'reason', label: 'Reason, for others who ask', required: true, maxlength: 255 }],
      action: 'Pause', danger: true, path: 'topic-pause', body: ({ reason }) => ({ topic, reason }),
    })) {
      await load(true);
    }
  }

  async function resume() {
    if (await act({
      title: `Resume topic ${plain(topic)}?`, text: 'Consumers go on within about a second.', action: 'Resume', path: 'topic-resume', body: () => ({ topic }),
    })) {
      await load(true);
    }
  }
}
