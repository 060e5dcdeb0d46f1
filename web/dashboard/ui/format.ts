const COUNT = new Intl.NumberFormat('en-US');
const RATE = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 });
const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' });
const TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });

/** Formats a number as `12,345`. */
export const count = (value: number): string => COUNT.format(value);

/** Formats a count as `12,345 items` or `1 item`. */
export const formatCount = (value: number, one: string, many = `${one}s`): string =>
  `${COUNT.format(value)} ${value === 1 ? one : many}`;

/** Formats a number with at most three significant digits: `12.3`. */
export const rate = (value: number): string => RATE.format(value);

/** Formats a fraction in percent. Only 0 is shown as 0%, and only all as 100%. */
export function percent(part: number, whole: number): string {
  if (whole === 0) return '–';
  const value = (100 * part) / whole;
  if (value > 0 && value < 0.1) return '< 0.1%';
  if (value < 100 && value > 99.9) return '> 99.9%';
  return `${value.toFixed(value % 1 === 0 ? 0 : 1)}%`;
}

/** Formats a duration: `45 s`, `12 min`, `3 h 20 min`, `2 d 4 h`. */
export function duration(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 1) return '< 1 s';
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 10) return `${minutes} min${whole % 60 === 0 ? '' : ` ${whole % 60} s`}`;
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h${minutes % 60 === 0 ? '' : ` ${minutes % 60} min`}`;
  return `${Math.floor(hours / 24)} d${hours % 24 === 0 ? '' : ` ${hours % 24} h`}`;
}

/** Formats an ISO 8601 time in the user's time zone: `22 Nov 2026, 17:02`. */
export const localTime = (iso: string): string => TIME.format(new Date(iso));

/** Formats the day of a time: `22 Nov 2026`. */
export const localDay = (iso: string): string => DAY.format(new Date(iso));
