import { RUN_FILES } from '../../files/run-files.ts';

/** What a screen has room for. */
const MAX_LISTED = 8;

/** A number for people. */
export function number(value: number): string {
  return value.toLocaleString('en-US');
}

/** The first texts of a list, and how many more there are: summary.json has all of them. */
export function listed(texts: readonly string[], max = MAX_LISTED): string[] {
  const more = texts.length - max;
  return more > 1 ? [...texts.slice(0, max), `and ${number(more)} more in ${RUN_FILES.summary}`] : [...texts];
}
