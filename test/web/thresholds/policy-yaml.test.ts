import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { readPolicyFile } from '../../../src/config/job-file/policy-file.ts';
import type { Policy } from '../../../src/domain/policy.ts';
import {
  findCrossedThresholds,
  effective,
  keysOf,
  createModel,
  policyYaml,
  withLevel,
} from '../../../web/dashboard/thresholds/model.ts';
import type { Key, Level, Model } from '../../../web/dashboard/thresholds/model.ts';
import { sharedFolder } from '../../helpers/cli.ts';

const folder = sharedFolder();

async function policyOf(yaml: string): Promise<Policy> {
  const path = join(folder, 'policy.yaml');
  await writeFile(path, yaml);
  return readPolicyFile(path, { value: 'policy.yaml', place: 'test' });
}

/** The thresholds that a policy applies to a key, as the pages say it. */
function appliedBy({ thresholds }: Policy, key: Key): { review: number | null; block: number | null } {
  const { review = null, block = null } = thresholds?.[key] ?? thresholds?.default ?? {};
  return { review, block };
}

/** Of a run with scores in two categories of another taxonomy. */
const NONE: Model = createModel(
  { thresholds: null, allowFlagged: false, allowPartial: false },
  { 'openai/hate': [], 'openai/self-harm/intent': [] },
);
const KEYS = keysOf(NONE);

/** What somebody does with the sliders: moves one, types a number, or takes a threshold away. */
const moves = fc.array(
  fc.tuple(
    fc.constantFrom(...KEYS),
    fc.constantFrom<Level>('review', 'block'),
    fc.option(
      fc.integer({ min: 0, max: 10_000 }).map((value) => value / 10_000),
      { freq: 4 },
    ),
  ),
  { maxLength: 20 },
);

it('the policy file means what the sliders show, whatever was done with them', async () => {
  const flags = fc.record({ allowFlagged: fc.boolean(), allowPartial: fc.boolean() });
  const property = fc.asyncProperty(moves, flags, async (done, allowed) => {
    const model = done.reduce((now, [key, level, value]) => withLevel(now, key, level, value), NONE);
    fc.pre(findCrossedThresholds(model).length === 0);
    const policy = await policyOf(policyYaml(model, { thresholds: null, ...allowed }));
    expect(policy).toMatchObject(allowed);
    for (const key of KEYS) expect(appliedBy(policy, key), key).toEqual(effective(model, key));
    // And the pages show such a policy with the same meaning.
    const again = createModel(policy);
    for (const key of KEYS) expect(effective(again, key), key).toEqual(effective(model, key));
  });
  await fc.assert(property, { numRuns: 100 });
});

it('a threshold takes the other one of its row along, so that review is never above block', () => {
  const model = withLevel(withLevel(NONE, 'default', 'review', 0.5), 'default', 'block', 0.8);
  expect(withLevel(model, 'default', 'review', 0.9).default).toEqual({ review: 0.9, block: 0.9 });
  expect(withLevel(model, 'hate', 'block', 0.2).hate).toEqual({ review: 0.2, block: 0.2 });
});

it('says which categories the default leaves with review above block', () => {
  let model = withLevel(NONE, 'default', 'block', 0.8);
  model = withLevel(model, 'hate', 'review', 0.7);
  model = withLevel(model, 'default', 'block', 0.6);
  expect(findCrossedThresholds(model)).toEqual(['hate']);
});
