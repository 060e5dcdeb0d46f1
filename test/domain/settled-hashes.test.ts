import { expect, it } from 'vitest';
import { itemsSha256 } from '../../src/domain/items-hash.ts';
import { payloadSha256 } from '../../src/domain/shard.ts';
import { copiedItem, knownItem, promptItem } from '../helpers/items.ts';

it('a copy, and an item whose verdict is known, hash as one that is still to be judged', () => {
  const judged = promptItem(3, 'text 3');
  for (const settled of [knownItem(3, 0.5), copiedItem(3, 'text 3', 1)]) {
    expect(payloadSha256([settled])).toBe(payloadSha256([judged]));
    expect(itemsSha256([settled])).toBe(itemsSha256([judged]));
  }
});
