import type { GuardSettings } from './guard-settings.ts';

/** The guard that capacity is measured against: batches of 32 on four instances, which take the published times. */
export const REFERENCE_GUARD: GuardSettings = {
  instances: 4,
  maxBatchSize: 32,
  time: 'reference',
  slowness: 1,
};

/** A guard that takes no time beyond its own processor time: what remains is what we take. */
export const ZERO_TIME_GUARD: GuardSettings = { instances: 4, maxBatchSize: 64, time: 'zero', slowness: 1 };
