import type { GuardSettings } from './guard-settings.ts';

/** The guard that capacity is measured against: four instances, batches of 32, published service times. */
export const REFERENCE_GUARD: GuardSettings = {
  instances: 4,
  maxBatchSize: 32,
  time: 'reference',
  slowness: 1,
};

/** A guard without service time, to measure our own cost. */
export const ZERO_TIME_GUARD: GuardSettings = { instances: 4, maxBatchSize: 64, time: 'zero', slowness: 1 };
