import { el, liveTable } from './dom.js';

/** 1,204; 3.5 s; - for none. */
const NUMBER = /^(-|[\d.,]+( [a-zA-Z]+)?)$/;

/** A table of the writer's, { headings, rows } of texts; more columns, made from a row, may follow. */
export function recordTable(caption, nothing, more = []) {
  const node = el('div', {});
  let table = null;
  return {
    node,
    update({ headings, rows }) {
      if (!table) {
        table = liveTable(caption, [
          ...headings.map((label, at) => ({ label: named(label), num: rows.length > 0 && rows.every((row) => NUMBER.test(row[at])), wide: at > 3, text: ({ cells }) => cells[at] })),
          ...more,
        ], (of) => of.key, nothing);
        node.replaceChildren(table.node);
      }
      table.update(rows.map((cells, key) => ({ key, cells })));
    },
  };
}

function named(heading) {
  return heading.length > 3 ? heading[0] + heading.slice(1).toLowerCase().replace('utc', 'UTC') : heading;
}
