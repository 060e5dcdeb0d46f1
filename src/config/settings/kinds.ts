import { resolve } from 'node:path';
import { z } from 'zod';
import { usageError, oneOf, quoteForMessage, type WithOrigin } from '../usage-error.ts';
import { parseDuration, parseRate } from '../values/quantities.ts';
import type { Kind, Text, Texts, Where } from './setting.ts';

const TEXT_SHAPE = z.string().min(1);

/** A single value, written as text in job files too. */
export function single<T>(
  unit: string,
  parse: (text: Text, where: Where) => T | Promise<T>,
  shape: z.ZodType = TEXT_SHAPE,
): Kind<T> {
  return { unit, isList: false, shape, parse: ([text], where) => parse(text, where) };
}

/** One or more values. `what` completes "expected …, or a list of them". */
export function list<T>(
  unit: string,
  what: string,
  parse: (texts: Texts, where: Where) => T | Promise<T>,
): Kind<T> {
  const shape = z.union([TEXT_SHAPE, z.array(TEXT_SHAPE).min(1)], {
    error: `expected ${what}, or a list of them`,
  });
  return { unit, isList: true, shape, parse };
}

export const anyText = (unit: string): Kind<string> => single(unit, ({ value }) => value);

/** A path, which is made absolute. */
export const path = (unit: string): Kind<string> =>
  single(unit, ({ value }, { folder }) => resolve(folder, value));

/** A file that is read later; the value is its absolute path. */
export const FILE: Kind<WithOrigin<string>> = single('file', ({ value, place }, { folder }) => ({
  value: resolve(folder, value),
  place,
}));

export const choice = <W extends string>(unit: string, words: readonly W[]): Kind<W> =>
  single(unit, (text) => oneOf(words, text), z.enum(words));

/** One or more of a few words: separated by commas, or a list in a job file. */
export function choices<W extends string>(unit: string, words: readonly W[]): Kind<readonly W[]> {
  const shape = z.array(z.enum(words)).min(1);
  const parse = (texts: Texts): W[] =>
    texts.flatMap(({ value, place }) =>
      value.split(',').map((word) => oneOf(words, { value: word.trim(), place })),
    );
  return { unit, isList: false, shape, parse };
}

/** A flag without a value; `true` or `false` in a job file. */
export const SWITCH: Kind<boolean> = {
  unit: null,
  isList: false,
  shape: z.boolean(),
  parse: ([{ value }]) => value === 'true',
};

export function wholeNumber(unit: string, min: number, max: number): Kind<number> {
  const parse = ({ value, place }: Text): number => {
    const number = wholeNumberIn(value, min, max);
    if (number !== null) return number;
    throw usageError(place, `expected a whole number from ${min} to ${max}, found ${quoteForMessage(value)}`);
  };
  return single(unit, parse, z.int().min(min).max(max));
}

const MAX_PORT = 65_535;

/** A TCP port to listen on; 0 picks a free port. */
export const PORT: Kind<number> = single('port', ({ value, place }) => {
  const port = wholeNumberIn(value, 0, MAX_PORT);
  if (port === null) throw usageError(place, `expected a port from 0 to ${MAX_PORT}`);
  return port;
});

function wholeNumberIn(text: string, min: number, max: number): number | null {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  return number >= min && number <= max ? number : null;
}

/** A duration (`30s`, `10m`, `2h`), in milliseconds. Bounds use the same notation. */
export function duration(bounds?: { readonly min: string; readonly max: string }): Kind<number> {
  return single('duration', (text) => {
    const ms = parseDuration(text);
    if (bounds === undefined) return ms;
    const { min, max } = bounds;
    const [minMs, maxMs] = [min, max].map((value) => parseDuration({ value, place: 'bound' })) as [
      number,
      number,
    ];
    if (ms < minMs || ms > maxMs) throw usageError(text.place, `expected ${min} to ${max}`);
    return ms;
  });
}

/** A fraction from 0 to 1. */
export const RATE: Kind<number> = single('rate', parseRate, z.number().min(0).max(1));
