// Finds the page that the address names, shows it, and keeps it up to date while it is looked at.

import { el, button, link, field, valuesOf, say, announce } from './dom.js';
import { get, loadSession, signIn, signOut, visitor, Refused } from './api.js';
import overview from './pages/overview.js';
import slots from './pages/slots.js';
import fleet from './pages/fleet.js';
import owners from './pages/owners.js';
import trace from './pages/trace.js';
import held from './pages/held.js';
import dead from './pages/dead.js';
import letter from './pages/letter.js';
import stale from './pages/stale.js';
import topics from './pages/topics.js';
import message from './pages/message.js';
import settings from './pages/settings.js';
import audit from './pages/audit.js';

const PAGES = [overview, slots, fleet, owners, trace, held, dead, letter, stale, topics, message, settings, audit];

const main = document.getElementById('main');
let stopPage = () => {};
let shown = '';

/** What a page gets: its parameters, and a way to ask again while it is shown. */
function contextOf(params) {
  const timers = [];
  let stopped = false;
  const context = {
    params,
    /** Runs something now and every so many milliseconds while the page is shown and looked at. */
    every(millis, work) {
      let running = false;
      const once = async () => {
        if (running || stopped || (document.hidden && !context.isFirst)) {
          return;
        }
        running = true;
        try {
          await work();
          connected('');
        } catch (e) {
          failed(e);
        } finally {
          running = false;
          context.isFirst = false;
        }
      };
      timers.push(setInterval(once, millis));
      return once();
    },
    isFirst: true,
    stop() {
      stopped = true;
      timers.forEach(clearInterval);
    },
  };
  return context;
}

function connected(problem) {
  say(document.getElementById('connection'), problem);
}

/** An error of the page as a whole. */
function failed(e) {
  if (e instanceof Refused && e.status === 401) {
    showSignIn();
  } else {
    connected(e instanceof Refused ? `${e.message}${e.status === 0 ? ': asking again' : ''}` : `the page failed: ${e.message}`);
  }
}

function address() {
  const [path, query] = location.hash.replace(/^#\/?/, '').split('?');
  return { path, params: new URLSearchParams(query ?? '') };
}

async function show() {
  const { path, params } = address();
  const [name, ...rest] = path.split('/');
  const page = pages().find((of) => of.path === name) ?? pages()[0];
  stopPage();
  connected('');
  const context = contextOf(params);
  context.rest = rest;
  stopPage = context.stop;
  navigation(page);
  document.title = `${page.title} · gameq`;
  main.replaceChildren(el('h1', { tabindex: '-1' }, page.title));
  const isMove = shown !== '' && shown !== path;
  shown = path || 'overview';
  try {
    if (visitor().asksForToken && !visitor().isSignedIn) {
      showSignIn();
      return;
    }
    await page.show(main, context);
    if (document.getElementById('where').textContent === '' && !visitor().topics.length) {
      const of = await get('writer');
      say(document.getElementById('where'), `${of.namespace} · ${of.writer}`);
    }
  } catch (e) {
    failed(e);
  }
  if (isMove) {
    main.querySelector('h1')?.focus(); // so that a screen reader begins there
  }
}

/** A token for some topics shows these alone. */
function pages() {
  return visitor().topics.length ? PAGES.filter((of) => of.path === 'topics' || of.under === 'topics') : PAGES;
}

function navigation(current) {
  const entries = pages().filter((page) => !page.isHidden).map((page) => el('li', {},
    link(page.title, `#/${page.path}`, { 'aria-current': page === current || page.path === current.under ? 'page' : null })));
  document.getElementById('nav').replaceChildren(el('ul', {}, entries));
  document.querySelector('nav a[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
}

function showVisitor() {
  const of = visitor();
  const note = of.isSignedIn
    ? [el('span', {}, `${of.who}${of.mayAct ? '' : ' · looking only'}`), button('Sign out', leave)]
    : of.asksForToken ? [] : [el('span', { title: of.whyNot }, 'looking only')];
  document.getElementById('visitor').replaceChildren(...note);
}

async function leave() {
  try {
    await signOut();
  } catch (e) {
    failed(e);
    return;
  }
  showVisitor();
  show();
}

function showSignIn() {
  stopPage();
  const problem = el('p', { class: 'problem', role: 'alert' });
  const form = el('form', { class: 'card sign-in' },
    el('h1', { tabindex: '-1' }, 'Sign in'),
    field({ name: 'name', label: 'Your name', hint: 'The audit log has it beside what you do.', required: true, maxlength: 60, autocomplete: 'username' }),
    field({ name: 'token', label: 'Token', type: 'password', hint: 'One of this writer\'s: http.tokenFile or http.tokens.', required: true, autocomplete: 'current-password' }),
    problem, el('div', { class: 'buttons' }, el('button', { type: 'submit', class: 'primary' }, 'Sign in')));
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    problem.textContent = '';
    const { name, token } = valuesOf(form);
    try {
      await signIn(name, token);
      showVisitor();
      announce('Signed in');
      show();
    } catch (e) {
      problem.textContent = e.message;
    }
  });
  main.replaceChildren(form);
  form.querySelector('input').focus();
}

function theme() {
  const root = document.documentElement;
  const toggle = document.getElementById('theme');
  const isDark = () => (root.dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
  const label = () => say(toggle, isDark() ? 'Light theme' : 'Dark theme');
  toggle.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    localStorage.setItem('gameq-theme', root.dataset.theme);
    label();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', label);
  label();
}

/** Where something that had the focus goes away, the focus goes to what it was in, or to the heading. */
function keepFocus() {
  let around = [];
  document.addEventListener('focusin', ({ target }) => {
    around = [];
    for (let node = target; node && node !== main; node = node.parentElement) {
      around.push(node);
    }
  });
  new MutationObserver(() => {
    const [had, ...outside] = around;
    const isGone = had && (!had.isConnected || (main.contains(had) && (had.disabled || had.closest('[hidden]'))));
    if (isGone && [document.body, had].includes(document.activeElement)) {
      const place = outside.find((node) => main.contains(node) && !node.closest('[hidden]') && node.matches('.table, section, form')) ?? main.querySelector('h1');
      place?.setAttribute('tabindex', '-1');
      place?.focus();
    }
  }).observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled', 'hidden'] });
}

async function begin() {
  theme();
  document.querySelector('.skip').addEventListener('click', (event) => {
    event.preventDefault();
    main.focus();
  });
  try {
    await loadSession();
  } catch (e) {
    failed(e);
    setTimeout(begin, 3000);
    return;
  }
  showVisitor();
  keepFocus();
  addEventListener('hashchange', show);
  show();
}

begin();
