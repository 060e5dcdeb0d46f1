import { CATEGORIES } from '../../src/domain/taxonomy.ts';

/** Formats a number as `1,234,567`. */
export function number(value: number): string {
  return value.toLocaleString('en-US');
}

/** Formats a count as `1 item` or `2,000 items`. */
export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${number(count)} ${count === 1 ? one : many}`;
}

/** Formats a fraction in percent: two significant digits for small ones, never 0% or 100% unless exact. */
export function percent(part: number, whole: number): string {
  if (whole === 0) return '–';
  const share = (part / whole) * 100;
  if (share === 0 || share === 100) return `${share}%`;
  if (share < 0.01) return '<0.01%';
  if (share > 99.99) return '>99.99%';
  return `${share.toFixed(share < 1 || share > 99 ? 2 : 1)}%`;
}

/** Formats a time as `2026-11-21 02:00:03 UTC`. */
export function time(iso: string): string {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(iso)
    ? `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`
    : 'unknown';
}

export function duration(seconds: number): string {
  if (seconds < 60) return `${Number(seconds.toFixed(1))} s`;
  const minutes = Math.floor(seconds / 60);
  const rest = Math.floor(seconds % 60);
  if (minutes < 60) return rest === 0 ? `${minutes} min` : `${minutes} min ${rest} s`;
  return minutes % 60 === 0
    ? `${number(Math.floor(minutes / 60))} h`
    : `${number(Math.floor(minutes / 60))} h ${minutes % 60} min`;
}

export function milliseconds(ms: number): string {
  if (ms >= 10_000) return `${number(Math.round(ms / 1000))} s`;
  return `${ms >= 100 ? number(Math.round(ms)) : ms.toPrecision(2)} ms`;
}

/** Formats a score with three decimals, which distinguish scores near a threshold. */
export function score(value: number): string {
  return value.toFixed(3);
}

const LABELS: ReadonlyMap<string, string> = new Map(CATEGORIES.map(({ key, label }) => [key, label]));

/** The label of a category of the taxonomy; other names are external and unchanged. */
export function categoryLabel(key: string): string {
  return LABELS.get(key) ?? key;
}
