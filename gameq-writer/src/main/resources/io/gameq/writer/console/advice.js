import { el, link } from './dom.js';
import { plain } from './text.js';

export function ownerAddress(owner) {
  return `#/trace?${new URLSearchParams({ owner })}`;
}

export function lettersAddress(owner) {
  return owner ? `#/dead?${new URLSearchParams({ owner })}` : '#/dead';
}

/** What the console does as well as a command: its words in a sentence, and where. */
const PAGES = [
  [/^dead retry (\d+)$/, 'retry it', (of, id) => `#/letter/${id}`],
  [/^dead discard (\d+)$/, 'discard it', (of, id) => `#/letter/${id}`],
  [/^dead retry --owner (.+)$/, 'retry them', (of, owner) => lettersAddress(of || owner)],
  [/^dead discard --owner (.+)$/, 'discard them', (of, owner) => lettersAddress(of || owner)],
  [/^dead( list)?$/, 'the dead letters', lettersAddress],
  [/^stale\b.*$/, 'the stale sessions', () => '#/stale'],
  [/^resume$/, 'it is resumed', () => '#/held'],
  [/^status$/, 'the overview', () => '#/'],
  [/^(?:nodes|writers)$/, 'the nodes and writers', () => '#/fleet'],
  [/^topics show (\S+) --state dead$/, 'its dead messages', (of, topic) => `#/topics/${encodeURIComponent(topic)}?state=dead`],
  [/^topics$/, 'the topics', () => '#/topics'],
];

/** A sentence of the writer: its commands are links where a page does the same, else code. */
export function advice(text, owner = '') {
  return plain(text).split(/('gameq-writer (?:[^']|'(?=\w))*')/).map((part) => {
    const command = /^'gameq-writer (.*)'$/.exec(part)?.[1];
    if (command === undefined) {
      return part;
    }
    const [found, label, address] = PAGES.find(([pattern]) => pattern.test(command)) ?? [];
    return found ? link(label, address(owner, ...found.exec(command).slice(1))) : el('code', {}, `gameq-writer ${command}`);
  });
}
