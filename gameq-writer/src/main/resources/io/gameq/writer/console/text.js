// How numbers, times and sizes are written; times in UTC, as in logs and on the command line.

const WHOLE = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

export function whole(number) {
  return Number.isFinite(number) ? WHOLE.format(number) : '–';
}

/** Three digits are enough to compare by. */
export function figure(number) {
  if (!Number.isFinite(number)) {
    return '–';
  }
  return number >= 100 || number === 0 ? WHOLE.format(number) : number.toLocaleString('en', { maximumSignificantDigits: 3 });
}

export function millis(number) {
  if (!Number.isFinite(number) || number < 0) {
    return '–';
  }
  if (number < 1000) {
    return `${figure(number)} ms`;
  }
  const seconds = number / 1000;
  if (seconds < 60) {
    return `${seconds.toFixed(1)} s`;
  }
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${Math.floor(seconds % 60)} s` : `${WHOLE.format(Math.floor(minutes / 60))} h ${minutes % 60} min`;
}

export function bytes(number) {
  if (!Number.isFinite(number) || number < 0) {
    return '–';
  }
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let at = 0;
  let rest = number;
  while (rest >= 1000 && at < units.length - 1) {
    rest /= 1000;
    at++;
  }
  return `${at === 0 ? rest : rest.toFixed(1)} ${units[at]}`;
}

/** Milliseconds since 1970, or ISO text. */
export function utc(time) {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? '–' : date.toISOString().replace('T', ' ').slice(0, 19);
}

export function count(number, one) {
  return `${whole(number)} ${one}${number === 1 ? '' : 's'}`;
}

/** With control and direction characters as escapes: they could make a text look like another. */
export function plain(text) {
  return String(text).replace(/[\p{Cc}\p{Cf}]/gu, (c) => `\\u${c.codePointAt(0).toString(16).padStart(4, '0')}`);
}
