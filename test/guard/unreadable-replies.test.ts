import { status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
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

// Node's HTTP/2 client cannot read a text of more than 64 KiB, or anything on the same connection after it: calls time out.
const refusals: { length: number; maxBatchSize: number; code: ItemCode; attempts: number }[] = [
  { length: 60_000, maxBatchSize: 8, code: 'EMPTY_CONTENT', attempts: 1 },
  { length: 200_000, maxBatchSize: 8, code: 'TIMEOUT', attempts: 5 },
  { length: 200_000, maxBatchSize: 0, code: 'TIMEOUT', attempts: 5 },
];

test('a refusal with a long text costs one item', { timeout: 120_000 }, async () => {
  const refuse = async ({
    length,
    maxBatchSize,
    code,
    attempts,
  }: (typeof refusals)[number]): Promise<void> => {
    const details = `EMPTY_CONTENT: ${'x'.repeat(length)}`;
    const server = await guard({
      maxBatchSize,
      script: ({ inputs }) =>
        inputs['TEXT']!.includes(BAD) ? { code: status.INVALID_ARGUMENT, details } : undefined,
    });
    const outcomes = await judge(await connect([server], { requestTimeoutMs: 1000 }), prompts(60));
    outcomes.forEach((outcome, index) => {
      if (index === 17) expect(failure(outcome)).toMatchObject({ error: { code }, attempts });
      else expect(verdict(outcome).attempts).toBe(1);
    });
  };
  await Promise.all(refusals.map(refuse));
});
