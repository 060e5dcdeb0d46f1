import { expect, it } from 'vitest';
import { DEFAULT_POLICY } from '../../src/domain/policy.ts';
import { Tally } from '../../src/record/tally.ts';
import { outcomeLine } from './outcome-line.ts';

it('counts flags under unknown names by name up to a bound, and the others together', () => {
  const tally = new Tally(DEFAULT_POLICY);
  for (let item = 0; item < 50; item++) {
    const flags = ['hate', ...Array.from({ length: 100 }, (_, index) => `made up ${item}-${index}`)];
    tally.add(outcomeLine({ seq: item, flagged: true, decision: 'block', subcategory_flags: flags }));
  }
  const { by_category } = tally.counts();
  expect(Object.keys(by_category)).toHaveLength(1 + 20 + 1);
  expect(by_category).toMatchObject({ hate: 50, 'made up 0-0': 1, other_categories: 5000 - 20 });
});
