import { el, liveTable } from '../dom.js';
import { get } from '../api.js';
import { plain } from '../text.js';

export default {
  path: 'settings',
  title: 'Settings',
  async show(root) {
    const table = liveTable('Settings in effect, secrets masked', [
      { label: 'Setting', text: (of) => plain(of.name) },
      { label: 'Value', wide: true, text: (of) => (of.value === null ? 'none' : plain(of.value)) },
      { label: 'From', text: (of) => plain(of.origin) },
    ], (of) => of.name, 'There are none.');
    root.append(el('p', {}, 'As this writer read them when it started; change them in its configuration file, and restart it.'), table.node);
    table.update((await get('settings')).settings);
  },
};
