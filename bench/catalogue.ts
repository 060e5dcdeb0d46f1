import { callers } from './callers.ts';
import { fleetMemory } from './fleet-memory.ts';
import { gateway } from './gateway.ts';
import { growth, growthFull } from './growth.ts';
import type { Bench } from './harness/bench.ts';
import { images } from './images.ts';
import { memory } from './memory.ts';
import { naive } from './naive.ts';
import { overhead } from './overhead.ts';
import { padding } from './padding.ts';
import { price } from './price.ts';
import { rescan } from './rescan.ts';
import { review } from './review.ts';
import { saturate } from './saturate.ts';
import { start } from './start.ts';
import { store } from './store.ts';
import { streaming } from './streaming.ts';
import { twoSpeeds } from './two-speeds.ts';

/** All benches, in running order. */
export const BENCHES: readonly Bench[] = [
  saturate,
  padding,
  overhead,
  naive,
  start,
  images,
  twoSpeeds,
  callers,
  streaming,
  gateway,
  store,
  rescan,
  review,
  growth,
  memory,
  fleetMemory,
  growthFull,
  price,
];
