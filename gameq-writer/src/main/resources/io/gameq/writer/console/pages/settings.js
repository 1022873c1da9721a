import { el } from '../dom.js';
import { get } from '../api.js';
import { recordTable } from '../table.js';

export default {
  path: 'settings',
  title: 'Settings',
  async show(root) {
    const table = recordTable('Settings in effect, secrets masked', 'There are none.');
    root.append(el('p', {}, 'As this writer read them when it started; change them in its configuration file, and restart it.'), table.node);
    table.update(await get('settings'));
  },
};
