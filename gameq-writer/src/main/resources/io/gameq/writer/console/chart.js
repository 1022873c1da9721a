import { el } from './dom.js';

const SVG = 'http://www.w3.org/2000/svg';
const WIDTH = 480;
const HEIGHT = 150;
const LEFT = 52;
const BOTTOM = 20;
const TOP = 8;

/** Nothing is known of a longer time without a point: the line is broken. */
const MOST_GAP_MILLIS = 15000;

function svg(tag, attributes, text) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    node.setAttribute(name, value);
  }
  if (text !== undefined) {
    node.textContent = text;
  }
  return node;
}

/** Times that can be halved and read well, milliseconds: up to a second as other numbers are. */
const TIMES = [2, 4, 10, 20, 60, 120, 240, 600, 1200, 3600, 7200, 14400, 43200, 86400].map((seconds) => seconds * 1000);

/** A bound that reads well: 1, 2 or 5 times a power of ten. */
function rounded(most, isTime) {
  if (isTime && most > 1000) {
    return TIMES.find((of) => of >= most) ?? most;
  }
  const power = 10 ** Math.floor(Math.log10(most));
  return [1, 2, 5, 10].map((of) => of * power).find((of) => of >= most * 0.999);
}

/**
 * Lines over the last minutes: {title, show: number => text, axis: of times the same in short, series: [{name, style}]}.
 * Lines differ in their dashes, too; the latest values stand beside the title as text.
 */
export function chart({ title, show, axis = show, series }) {
  const now = el('p', { class: 'now' });
  const drawing = svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img' });
  const node = el('figure', { class: 'chart' }, el('figcaption', {}, el('h3', {}, title), now), drawing);
  function keys() {
    return series.map((of, at) => {
      const key = svg('svg', { class: 'key', viewBox: '0 0 24 8', width: 24, height: 8, 'aria-hidden': 'true' });
      key.append(svg('line', { x1: 0, x2: 24, y1: 4, y2: 4, class: `line ${of.style}` }));
      const text = el('span', {});
      now.append(el('span', { class: 'legend' }, series.length > 1 ? key : null, text));
      return { text, at };
    });
  }
  const legend = keys();

  /** Points of each series: [milliseconds since 1970, number or NaN]. */
  function update(points, spanMillis) {
    const last = Math.max(...points.flat().map((point) => point[0]), 0);
    const first = last - spanMillis;
    const values = points.flat().filter((point) => point[0] >= first).map((point) => point[1]).filter(Number.isFinite);
    const most = values.length === 0 ? 1 : rounded(Math.max(...values, 1e-9) || 1, axis !== show);
    const x = (time) => LEFT + ((time - first) / spanMillis) * (WIDTH - LEFT - 4);
    const y = (value) => TOP + (1 - value / most) * (HEIGHT - TOP - BOTTOM);
    drawing.replaceChildren();
    for (const part of [0, 0.5, 1]) {
      const at = y(most * part);
      drawing.append(svg('line', { class: 'grid', x1: LEFT, x2: WIDTH - 4, y1: at, y2: at }),
        svg('text', { class: 'axis', x: LEFT - 6, y: at + 4, 'text-anchor': 'end' }, axis(most * part)));
    }
    const minutes = Math.round(spanMillis / 60000);
    drawing.append(svg('text', { class: 'axis', x: LEFT, y: HEIGHT - 5 }, `${minutes} min ago`),
      svg('text', { class: 'axis', x: WIDTH - 4, y: HEIGHT - 5, 'text-anchor': 'end' }, 'now'));
    points.forEach((line, at) => {
      let path = '';
      let down = false;
      let before = 0;
      for (const [time, value] of line) {
        if (time < first || !Number.isFinite(value)) {
          down = false;
          continue;
        }
        down = down && time - before < MOST_GAP_MILLIS;
        before = time;
        path += `${down ? 'L' : 'M'}${x(time).toFixed(1)} ${y(value).toFixed(1)}`;
        down = true;
      }
      drawing.append(svg('path', { class: `line ${series[at].style}`, d: path }));
    });
    const texts = series.map((of, at) => {
      const latest = points[at].length === 0 ? NaN : points[at][points[at].length - 1][1];
      return series.length > 1 ? `${of.name} ${show(latest)}` : show(latest);
    });
    legend.forEach(({ text, at }) => { text.textContent = texts[at]; });
    drawing.setAttribute('aria-label', `${title}: ${texts.join(', ')}; at most ${show(values.length ? Math.max(...values) : NaN)} within ${minutes} minutes`);
  }
  return { node, update };
}
