import type { Policy } from '../../../src/domain/policy.ts';
import { foreignIn } from '../../../src/domain/taxonomy.ts';
import { KEYS, type Levels, type Model } from './model.ts';

const LEVELS = ['review', 'block'] as const;

const flowOf = (levels: Levels): string =>
  LEVELS.filter((level) => levels[level] !== null)
    .map((level) => `${level}: ${levels[level]}`)
    .join(', ');

/** A policy file that means what the sliders show; without any threshold, the guard's flags decide. What else the policy says stays. */
export function policyYaml(model: Model, policy: Policy): string {
  const { allowFlagged, allowPartial, taxonomy = {} } = policy;
  const foreign = foreignIn(policy.thresholds).map((name) => {
    const { review = null, block = null } = policy.thresholds![name]!;
    return [name, flowOf({ review, block })] as const;
  });
  const thresholds = [...KEYS.map((key) => [key, flowOf(model[key])] as const), ...foreign]
    .filter(([, flow]) => flow !== '')
    .map(([key, flow]) => `  ${key}: { ${flow} }\n`);
  const first = thresholds.length === 0 ? '' : `thresholds:\n${thresholds.join('')}`;
  const mapped = Object.entries(taxonomy).map(([name, key]) => `  ${name}: ${key}\n`);
  const rest = mapped.length === 0 ? '' : `taxonomy:\n${mapped.join('')}`;
  return `${first}allowFlagged: ${allowFlagged}\nallowPartial: ${allowPartial}\n${rest}`;
}
