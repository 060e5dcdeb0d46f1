import { isDeepStrictEqual } from 'node:util';
import { DECODER_READS } from '../../normalize/image/process/decoder-process.ts';
import { boundsHere, type Bounds } from '../../confinement/confined.ts';
import type { Check } from './machine-checks.ts';

const NAMES: Readonly<Record<keyof Bounds, string>> = {
  memory: 'memory',
  otherProcesses: 'access to other processes',
  network: 'network',
  life: 'lifetime',
};

/**
 * Which bounds this system sets to the processes that decode media. A bound that it cannot set is no failure: runs work
 * without it.
 */
export function checkDecoders(): Check {
  const images = boundsHere(DECODER_READS);
  const audio = boundsHere(null);
  const found = isDeepStrictEqual(images, audio)
    ? describe(images)
    : `images: ${describe(images)}; audio: ${describe(audio)}`;
  return { what: 'decoders', ok: true, found, todo: null };
}

function describe(bounds: Bounds): string {
  const names = Object.keys(NAMES) as (keyof Bounds)[];
  const list = (set: boolean): string =>
    names
      .filter((name) => bounds[name] === set)
      .map((name) => NAMES[name])
      .join(', ') || 'nothing';
  const missing = names.every((name) => bounds[name]) ? '' : `; not bounded here: ${list(false)}`;
  return `bounded: ${list(true)}${missing}`;
}
