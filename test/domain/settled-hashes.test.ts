import { expect, it } from 'vitest';
import { itemsSha256 } from '../../src/domain/items-hash.ts';
import { payloadSha256 } from '../../src/domain/shard.ts';
import { knownItem, promptItem } from '../helpers/items.ts';

it('an item with a reused verdict hashes like one that is still to be judged', () => {
  const judged = promptItem(3, 'text 3');
  const settled = knownItem(3, 0.5);
  expect(payloadSha256([settled])).toBe(payloadSha256([judged]));
  expect(itemsSha256([settled])).toBe(itemsSha256([judged]));
});
