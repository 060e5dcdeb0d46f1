import type { Policy } from '../../../src/domain/policy.ts';
import { KEYS, type Levels, type Model } from './model.ts';

const LEVELS = ['review', 'block'] as const;

const flowOf = (levels: Levels): string =>
  LEVELS.filter((level) => levels[level] !== null)
    .map((level) => `${level}: ${levels[level]}`)
    .join(', ');

/** A policy file that means what the sliders show; without any threshold, the guard's flags decide. What else the policy says stays. */
export function policyYaml(model: Model, { allowFlagged, allowPartial }: Policy): string {
  const thresholds = KEYS.map((key) => [key, flowOf(model[key])] as const)
    .filter(([, flow]) => flow !== '')
    .map(([key, flow]) => `  ${key}: { ${flow} }\n`);
  const first = thresholds.length === 0 ? '' : `thresholds:\n${thresholds.join('')}`;
  return `${first}allowFlagged: ${allowFlagged}\nallowPartial: ${allowPartial}\n`;
}
