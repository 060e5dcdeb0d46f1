import { oneOf } from '../config/mistake.ts';
import { FAIL_IF } from '../config/settings/entries/gates.ts';
import { RUN_START_WAIT } from '../config/settings/entries/fleet.ts';
import { flagName, type Flags } from '../config/settings/given.ts';
import { JOB_SETTINGS } from '../config/settings/job-settings.ts';
import type { GivenFlags } from './given-flags.ts';

interface Options {
  readonly guard?: string | readonly string[];
  readonly policy?: string;
  readonly out?: string;
  readonly flags?: GivenFlags;
}

/** Flags that are no keys of job files, beside those that are. */
const KNOWN = [...JOB_SETTINGS, FAIL_IF, RUN_START_WAIT].flatMap(({ flag }) =>
  flag === null ? [] : [flagName(flag)],
);

/** The flags that options stand for. Failure('usage') for one that is not known. */
export function flagsOf({ guard, policy, out, flags = {} }: Options): Flags {
  const given: Record<string, Flags[string]> = {};
  for (const [name, value] of Object.entries(flags)) {
    const known = oneOf(KNOWN, { value: name, place: 'flags' });
    // A flag such as --no-reuse says the same whatever its value, so that false means it is not given.
    if (value === false && /^no[A-Z]/.test(known)) continue;
    given[known] = typeof value === 'number' ? String(value) : value;
  }
  return {
    ...given,
    ...(guard !== undefined && { guard }),
    ...(policy !== undefined && { policy }),
    ...(out !== undefined && { out }),
  };
}
