const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;

/**
 * Checks a calendar date, `YYYY-MM-DD`.
 * @returns the date; undefined for other text, and for the year 0
 */
export function parseDate(text: string): string | undefined {
  const match = DATE.exec(text);
  if (!match || match[1] === '0000') return undefined;
  const date = new Date(`${text}T00:00:00.000Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text) ? text : undefined;
}

const DATETIME = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/;

/**
 * Converts RFC 3339 text to UTC with milliseconds.
 * @returns undefined for other text, and outside the years 1 to 9999
 */
export function parseDatetime(text: string): string | undefined {
  const match = DATETIME.exec(text);
  if (!match) return undefined;
  const [, day = '', hour = '', minute = '', second = '', fraction = '', zone = ''] = match;
  if (parseDate(day) === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const milliseconds = fraction.slice(1, 4).padEnd(3, '0');
  const date = new Date(`${day}T${hour}:${minute}:${second}.${milliseconds}${zone.toUpperCase()}`);
  if (Number.isNaN(date.getTime())) return undefined;
  const utc = date.toISOString();
  return /^(?!0000)\d{4}-/.test(utc) ? utc : undefined;
}
