import { expect, it } from 'vitest';
import { itemsSha256 } from '../../src/domain/items-hash.ts';
import { payloadSha256 } from '../../src/domain/shard.ts';
import { knownItem, promptItem } from '../helpers/items.ts';

it('an item whose verdict is known hashes as one that is still to be judged', () => {
  const [known, judged] = [knownItem(3, 0.5), promptItem(3, 'text 3')];
  expect(payloadSha256([known])).toBe(payloadSha256([judged]));
  expect(itemsSha256([known])).toBe(itemsSha256([judged]));
});
