import { parseDuration } from './duration.ts';

/** Bounds of a worker's `--lock`, as typed. */
export const MIN_LOCK = '2s';
export const MAX_LOCK = '5m';

/** The longest that a worker may keep its jobs to itself after its last sign of life, in milliseconds. */
export const MAX_LOCK_MS = parseDuration({ value: MAX_LOCK, place: 'MAX_LOCK' });
