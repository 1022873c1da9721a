import { el, field, valuesOf, button, announce } from './dom.js';
import { formId, post } from './api.js';

/**
 * Asks before something is done, and does it: {title, text, fields, action, danger, path, body: values => object}.
 * Returns the answer, or null when it was left. What goes wrong is told in the dialog, which stays open.
 */
export function act({ title, text, fields = [], action, danger, path, body }) {
  return new Promise((resolve) => {
    const problem = el('p', { class: 'problem', role: 'alert' });
    const doIt = el('button', { type: 'submit', class: danger ? 'danger' : 'primary' }, action);
    const form = el('form', { method: 'dialog' },
      el('h2', { id: 'dialog-title' }, title),
      el('p', { id: 'dialog-text' }, text),
      fields.map(field), problem,
      el('div', { class: 'buttons' }, doIt, button('Cancel', () => leave(null))));
    const dialog = el('dialog', { 'aria-labelledby': 'dialog-title', 'aria-describedby': 'dialog-text' }, form);
    let id = formId(); // of what is shown now
    id.catch((e) => { problem.textContent = e.message; });
    const away = () => leave(null); // Back, or another address
    addEventListener('hashchange', away);
    function leave(answer) {
      removeEventListener('hashchange', away);
      dialog.close();
      dialog.remove();
      resolve(answer);
    }
    dialog.addEventListener('cancel', (event) => {
      event.preventDefault();
      leave(null);
    });
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      doIt.disabled = true;
      problem.textContent = '';
      try {
        const answer = await post(path, body(valuesOf(form)), await id);
        leave(answer);
        announce(`${title}: done`);
      } catch (e) {
        problem.textContent = e.message;
        doIt.disabled = false;
        if (e.status !== 0) { // else it may have arrived: the same id once more, which does nothing twice
          id = formId();
          id.catch(() => {});
        }
      }
    });
    document.getElementById('dialogs').append(dialog);
    dialog.showModal();
  });
}
