// Asks the writer. Every change carries the session's token and a form id that is good once.

export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

let session = { asksForToken: true, isSignedIn: false, mayRead: false, mayAct: false, who: '', csrf: '', whyNot: '', topics: [] };

export function visitor() {
  return session;
}

async function ask(path, options) {
  let response;
  try {
    response = await fetch(`api/${path}`, { credentials: 'same-origin', ...options });
  } catch {
    throw new Refused(0, 'the writer does not answer');
  }
  if (!response.ok) {
    const text = await response.text();
    throw new Refused(response.status, text.slice(0, 500) || `refused (${response.status})`);
  }
  return response.json();
}

export function get(path, params = {}) {
  const query = new URLSearchParams(Object.entries(params).filter(([, value]) => value !== '' && value !== null && value !== undefined));
  const text = query.toString();
  return ask(text ? `${path}?${text}` : path);
}

function send(path, body, headers = {}) {
  return ask(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Gameq-Csrf': session.csrf, ...headers },
    body: JSON.stringify(body),
  });
}

/** A fresh id for a form, to be got when it is shown: whoever sends it twice does it once. */
export async function formId() {
  return (await send('form', {})).id;
}

/** Does something; with the id of the form that was shown, or one of its own. */
export async function post(path, body, id) {
  return send(path, body, { 'X-Gameq-Form': id ?? await formId() });
}

export async function loadSession() {
  session = await get('session');
  return session;
}

export async function signIn(name, token) {
  session = await send('session', { name, token });
  return session;
}

export async function signOut() {
  session = await send('sign-out', {});
  return session;
}
