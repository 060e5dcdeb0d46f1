import type { RunConfig } from '../run-config.ts';
import { mistake, oneOf, quoted, type Located } from '../mistake.ts';
import { parseRate } from './rate.ts';

export type Gates = RunConfig['failIf'];

const GATE_BY_WORD: Readonly<Record<string, keyof Gates>> = {
  'flagged-rate': 'flaggedRate',
  'error-rate': 'errorRate',
};

/**
 * A gate as typed, `flagged-rate=0.01`: its name in the configuration and its rate, a share of 0 to 1. Failure('usage')
 * for an unknown name or a rate outside that range.
 */
export function parseGate({ value, place }: Located<string>): readonly [gate: keyof Gates, rate: number] {
  const [word = '', rate] = value.split('=', 2);
  if (rate === undefined) {
    throw mistake(place, `expected NAME=RATE such as flagged-rate=0.01, found ${quoted(value)}`);
  }
  const name = oneOf(Object.keys(GATE_BY_WORD), { value: word, place });
  return [GATE_BY_WORD[name]!, parseRate({ value: rate, place })];
}
