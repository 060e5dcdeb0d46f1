import { status } from '@grpc/grpc-js';
import { describe, expect, test } from 'vitest';
import type { ItemCode } from '../../src/domain/item-error.ts';
import {
  closeAfterEach,
  connect,
  failure,
  guard,
  judge,
  prompts,
  verdict,
} from '../helpers/guards/guard-pool.ts';

closeAfterEach();

const BAD = 'text 17';

describe('a refusal with a long text costs one item', () => {
  // What is beyond 64 KiB as it travels, Node's HTTP/2 client cannot read, nor anything on the same connection after it.
  test.each<[length: number, maxBatchSize: number, code: ItemCode, attempts: number]>([
    [60_000, 8, 'EMPTY_CONTENT', 1],
    [200_000, 8, 'GUARD_UNAVAILABLE', 5],
    [200_000, 0, 'GUARD_UNAVAILABLE', 5],
  ])(
    '%i characters, batches of %i: %s',
    { timeout: 120_000 },
    async (length, maxBatchSize, code, attempts) => {
      const details = `EMPTY_CONTENT: ${'x'.repeat(length)}`;
      const server = await guard({
        maxBatchSize,
        script: ({ inputs }) =>
          inputs['TEXT']!.includes(BAD) ? { code: status.INVALID_ARGUMENT, details } : undefined,
      });
      const outcomes = await judge(await connect([server]), prompts(60));
      outcomes.forEach((outcome, index) => {
        if (index === 17) expect(failure(outcome)).toMatchObject({ error: { code }, attempts });
        else expect(verdict(outcome).attempts).toBe(1);
      });
    },
  );
});
