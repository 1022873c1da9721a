import { el, say } from './dom.js';

const SVG = 'http://www.w3.org/2000/svg';

/** One line over the latest figures, from 0 to the greatest of them, which stands beside the title. */
export function chart(title, show) {
  const now = el('p', { class: 'now' });
  const drawing = document.createElementNS(SVG, 'svg');
  const line = document.createElementNS(SVG, 'polyline');
  drawing.setAttribute('viewBox', '0 0 300 80');
  drawing.setAttribute('role', 'img');
  line.setAttribute('class', 'line');
  drawing.append(line);
  return {
    node: el('figure', { class: 'chart' }, el('figcaption', {}, el('h3', {}, title), now), drawing),
    update(figures) {
      const known = figures.map((figure, at) => [at, figure]).filter(([, figure]) => Number.isFinite(figure));
      const most = Math.max(...known.map(([, figure]) => figure), 1e-9);
      line.setAttribute('points', known.map(([at, figure]) => `${(at / Math.max(1, figures.length - 1)) * 300},${78 - (figure / most) * 76}`).join(' '));
      const text = known.length ? `${show(known.at(-1)[1])}; at most ${show(most < 1e-6 ? 0 : most)}` : '–';
      say(now, text);
      drawing.setAttribute('aria-label', `${title}: ${text}`);
    },
  };
}
