import { el, attempts, button, facts, link, say, announce } from '../dom.js';
import { get, post, visitor } from '../api.js';
import { utc, plain, whole } from '../text.js';
import { act } from '../dialog.js';

export default {
  path: 'message',
  title: 'Message',
  isHidden: true,
  under: 'topics',
  async show(root, context) {
    const topic = context.rest[0];
    const key = context.params.get('key') ?? '';
    const group = context.params.get('group');
    const named = group === null ? { topic: decodeURIComponent(topic), key } : { topic: decodeURIComponent(topic), key, group };
    const problem = el('p', { class: 'problem', role: 'alert' });
    const attempt = attempts(problem);
    const body = el('div', {});
    root.append(el('p', {}, link(`Topic ${plain(named.topic)}`, `#/topics/${topic}`)), problem, body);
    say(root.querySelector('h1'), `Message ${plain(key)}${group === null ? '' : ` of ${plain(group)}`}`);
    await load();

    async function load() {
      show(await get(`topics/${topic}/message`, group === null ? { key } : { key, group }));
    }

    function show(trace) {
      body.replaceChildren(
        el('section', { class: `attention ${trace.next.isToAct ? 'bad' : 'good'}` }, el('p', {}, `Next: ${plain(trace.next.sentence)}`)),
        ...trace.places.map(place),
        el('div', { class: 'buttons' },
          button('Look again', () => attempt(load)),
          visitor().mayRead && trace.places.some((of) => of.content && !of.content.payload)
            ? button('Show payload', () => attempt(async () => show(await post('topic-values', named))), { title: 'This is in the audit log' }) : null,
          visitor().mayAct ? null : el('span', { class: 'hint' }, visitor().whyNot)));
    }

    function place(of) {
      const content = of.content;
      const isDead = of.state === 'DEAD';
      const when = { PENDING: 'Due', READY: 'Due', HELD: 'Lease ends', DEAD: 'Died' }[of.state];
      return el('section', { class: 'card' }, el('h2', {}, of.state.toLowerCase()), facts([
        [when, `${utc(of.millis)} UTC`], ['Attempts', String(of.attempts)],
        ['Node', of.node ? plain(of.node) : null], ['Error', of.error ? plain(of.error) : null],
        ['Version', content?.version], ['Published', content ? `${utc(content.sinceMillis)} UTC` : null],
        ['Priority', content ? String(content.priority) : null], ['Recurs', content?.schedule ? plain(content.schedule) : null],
        ['Payload', content ? (content.payload ? el('pre', {}, plain(content.payload.text)) : `${whole(content.payloadBytes)} bytes, hidden`) : 'cannot be read'],
      ]), isDead && content && visitor().mayAct ? el('div', { class: 'buttons' },
        button('Retry …', () => retry(content, null), { class: 'primary' }),
        content.payload ? button('Retry with another payload …', () => retry(content, content.payload)) : null,
        button('Discard …', () => discard(content), { class: 'danger' })) : null);
    }

    async function retry(content, payload) {
      const form = payload && (payload.isExact ? payload.form : 'HEX');
      const done = await act({
        title: 'Retry this message?', text: 'It is due at once, with all its attempts.',
        fields: payload ? [{
          name: 'payload', label: `Payload (${form === 'RECORD' ? 'a record as JSON' : form === 'HEX' ? 'in hex' : 'text'})`,
          multiline: true, rows: 6, value: payload.isExact ? payload.text : '', hint: 'The audit log does not have it.',
        }] : [],
        action: 'Retry', path: 'topic-retry',
        body: (values) => ({ ...named, version: content.version, ...(payload ? { form, payload: values.payload } : {}) }),
      });
      await became(done);
    }

    async function discard(content) {
      await became(await act({
        title: 'Discard this message?', text: 'It is removed for good.', action: 'Discard', danger: true, path: 'topic-discard',
        body: () => ({ ...named, version: content.version }),
      }));
    }

    async function became(done) {
      if (done) {
        await attempt(load);
        announce(done.became);
        problem.textContent = done.isGone ? '' : done.became;
      }
    }
  },
};
