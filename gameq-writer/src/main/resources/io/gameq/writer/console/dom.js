// Elements from text: whatever comes from a server ends in textContent, never in HTML.

/** An element with attributes, listeners (onclick) and children: texts or nodes; null is left out. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) {
      node.addEventListener(name.slice(2), value);
    } else if (value === true) {
      node.setAttribute(name, '');
    } else if (value !== false && value !== null && value !== undefined) {
      node.setAttribute(name, value);
    }
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

/** Sets the text of a node unless it has it already, so that screen readers hear changes alone. */
export function say(node, text) {
  if (node.textContent !== text) {
    node.textContent = text;
  }
}

/** Tells whoever listens and does not see. */
export function announce(text) {
  say(document.getElementById('announcement'), text);
}

/** A function that does some work, and says in an element what was wrong with it. */
export function attempts(problem) {
  return async (work) => {
    problem.textContent = '';
    try {
      await work();
    } catch (e) {
      problem.textContent = e.message;
    }
  };
}

export function button(label, onclick, attributes = {}) {
  return el('button', { type: 'button', onclick, ...attributes }, label);
}

export function link(label, hash, attributes = {}) {
  return el('a', { href: hash, ...attributes }, label);
}

/** A labelled input, select or textarea: {name, label, value, options, hint, ...attributes}. */
export function field({ name, label, value = '', options, hint, multiline, ...attributes }) {
  const id = `field-${name}-${Math.random().toString(36).slice(2, 8)}`;
  const tag = options ? 'select' : multiline ? 'textarea' : 'input';
  const hintId = hint ? `${id}-hint` : null;
  const input = el(tag, { id, name, 'aria-describedby': hintId, autocomplete: 'off', ...attributes });
  for (const option of options ?? []) {
    input.append(el('option', { value: option[0] }, option[1]));
  }
  input.value = value;
  return el('div', { class: 'field' },
    el('label', { for: id }, label), input, hint ? el('p', { class: 'hint', id: hintId }, hint) : null);
}

/** What the inputs of a form hold, by name. */
export function valuesOf(form) {
  return Object.fromEntries(new FormData(form).entries());
}

/**
 * A table that is updated in place, so that focus and selections stay.
 * Columns: {label, text: row => string} or {label, node: row => Node, made once for a key}; num aligns right, together keeps a cell on one line, wide gives it room.
 */
export function liveTable(caption, columns, keyOf, nothing) {
  const body = el('tbody', { role: 'rowgroup' });
  const known = new Map();
  const none = el('p', { class: 'none' }, nothing);
  const headings = columns.map((column) =>
    el('th', { scope: 'col', role: 'columnheader', class: column.num ? 'num' : null },
      column.hidden ? el('span', { class: 'unseen' }, column.label) : column.label));
  const table = el('table', { role: 'table' },
    el('caption', {}, caption),
    el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, headings)), body);
  const node = el('div', { class: 'table' }, table, none);

  function made(row) {
    const cells = columns.map((column, at) =>
      el(at === 0 && !column.hidden ? 'th' : 'td',
        at === 0 && !column.hidden
          ? { scope: 'row', role: 'rowheader', class: column.num ? 'num' : column.together ? 'together' : null }
          : { role: 'cell', 'data-label': column.hidden ? null : column.label, class: column.num ? 'num' : column.wide ? 'wide' : column.together ? 'together' : null },
        column.node ? column.node(row) : null));
    const line = el('tr', { role: 'row' }, cells);
    body.append(line);
    return { line, cells };
  }

  function update(rows) {
    const keys = new Set(rows.map((row) => String(keyOf(row))));
    for (const [key, { line }] of known) {
      if (!keys.has(key)) {
        line.remove();
        known.delete(key);
      }
    }
    let before = null;
    for (const row of rows) {
      const key = String(keyOf(row));
      if (!known.has(key)) {
        known.set(key, made(row));
      }
      const { line, cells } = known.get(key);
      columns.forEach((column, at) => {
        if (column.text) {
          say(cells[at], column.text(row));
        }
      });
      const expected = before ? before.nextSibling : body.firstChild;
      if (expected !== line) {
        body.insertBefore(line, expected);
      }
      before = line;
    }
    table.hidden = rows.length === 0;
    none.hidden = rows.length !== 0;
  }
  update([]);
  return { node, update };
}

/** Names and values, as a list. */
export function facts(pairs) {
  return el('dl', { class: 'facts' }, pairs.filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value))));
}
