import type { Policy } from '../../../src/domain/policy.ts';
import { keysOf, type Levels, type Model, ownLevels } from './model.ts';

const LEVELS = ['review', 'block'] as const;

const flowOf = (levels: Levels): string =>
  LEVELS.filter((level) => levels[level] !== null)
    .map((level) => `${level}: ${levels[level]}`)
    .join(', ');

/** A policy file that means what the sliders show; without any threshold, the guard's flags decide. What else the policy says stays. */
export function policyYaml(model: Model, policy: Policy): string {
  const { allowFlagged, allowPartial, taxonomy = {} } = policy;
  const thresholds = keysOf(model)
    .map((key) => [key, flowOf(ownLevels(model, key))] as const)
    .filter(([, flow]) => flow !== '')
    .map(([key, flow]) => `  ${key}: { ${flow} }\n`);
  const first = thresholds.length === 0 ? '' : `thresholds:\n${thresholds.join('')}`;
  const mapped = Object.entries(taxonomy).map(([name, key]) => `  ${JSON.stringify(name)}: ${key}\n`);
  const rest = mapped.length === 0 ? '' : `taxonomy:\n${mapped.join('')}`;
  return `${first}allowFlagged: ${allowFlagged}\nallowPartial: ${allowPartial}\n${rest}`;
}
