import { basename } from 'node:path';
import { type WithOrigin, usageError, quoteForMessage } from '../usage-error.ts';

const MAX_LENGTH = 48;

/** Reduces text to lower-case letters, digits and single hyphens between them, at most 48: safe in every file name. */
function slug(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_LENGTH)
    .replaceAll(/^-|-$/g, '');
}

/**
 * Checks a run's name as given by the user, which becomes part of a folder's name. Failure('usage') if it is not a
 * slug.
 */
export function parseRunName({ value, place }: WithOrigin<string>): string {
  const fit = slug(value);
  if (value !== fit || fit === '') {
    const advice = fit === '' ? 'nightly-rescan' : fit;
    throw usageError(
      place,
      `expected lower-case letters, digits and hyphens, at most ${MAX_LENGTH}, such as ${advice}; found ${quoteForMessage(value)}`,
    );
  }
  return value;
}

/** The default name of a run, taken from its job file or its first corpus. */
export function runNameFromPath(path: string): string {
  return slug(basename(path).replace(/\.[a-z0-9]{1,5}(\.gz)?$/i, '')) || 'run';
}

/** Creation time, name, and four hexadecimal digits. */
const RUN_ID = /^\d{8}T\d{6}Z-([a-z0-9-]{1,48})-[0-9a-f]{4}$/;

/**
 * Whether a string is the name of a run (`20261121T020000Z-nightly-ab12`), which is used for its directory and in the
 * keys of its fleet. Call it for every such string from outside before it becomes part of a path or a pattern.
 */
export function isRunId(text: string): boolean {
  const name = RUN_ID.exec(text)?.[1];
  return name !== undefined && name === slug(name);
}
