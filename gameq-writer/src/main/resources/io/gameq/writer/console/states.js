import { el, button, link, liveTable } from './dom.js';
import { visitor } from './api.js';
import { plain } from './text.js';
import { act } from './dialog.js';
import { lettersAddress, ownerAddress } from './advice.js';

/**
 * What is held back, why, and what ends that; with what a person can do about it.
 * of: whose page it is, or empty; changed: called when something was done.
 */
export function statesTable(caption, nothing, of, changed) {
  return liveTable(caption, [
    { label: 'State', node: (state) => el('span', { class: `mark ${state.state === 'paused' ? 'warn' : 'bad'}` }, state.state) },
    { label: 'What', node: (state) => (state.scope === 'owner' ? link(plain(state.what), ownerAddress(state.name)) : el('span', {}, plain(state.what))) },
    { label: 'Why', wide: true, text: (state) => plain(state.cause) },
    { label: 'Ends when', text: (state) => state.ends },
    { label: 'Do', node: (state) => action(state, of, changed) },
  ], (state) => [state.state, state.what, state.scope === '' ? '' : state.cause].join(' '), nothing);
}

function action(state, of, changed) {
  if (state.state === 'dead letters') {
    const owner = of || state.name;
    return link('Dead letters', lettersAddress(owner), { class: 'button', 'aria-label': `Dead letters of ${plain(owner)}` });
  }
  if (state.state === 'held up') {
    return link('Slots', '#/slots', { class: 'button' });
  }
  return state.state === 'paused' && visitor().mayAct
    ? button('Resume', () => resume(state, changed), { 'aria-label': `Resume ${plain(state.what)}` }) : null;
}

async function resume(state, changed) {
  const done = await act({
    title: `Resume ${plain(state.what)}?`, text: `It was paused ${plain(state.cause)}`, action: 'Resume', path: 'resume',
    body: () => ({ scope: state.scope, name: state.name }),
  });
  if (done) {
    await changed();
  }
}
