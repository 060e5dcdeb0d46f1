/** Decimals of all figures. */
const DIGITS = 3;

/** A figure of a table; a dash where there is none. */
export function figure(value: number): string {
  return Number.isNaN(value) ? '–' : value.toFixed(DIGITS);
}

export function share(count: number, total: number): string {
  return figure(count / total);
}
