import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import {
  closeAfterEach,
  connect,
  expectOnlyFailure,
  judge,
  prompts,
  restGuard,
} from '../../helpers/guards/guard-pool.ts';
import type { RestScripted } from '../../helpers/guards/rest-guard.ts';

closeAfterEach();

const MIB = 1024 * 1024;
const BAD = 'text 17';
const ordinary = { flagged: false, score: 0.1, subcategory_flags: {}, latency_ms: 1 };

describe('a malformed reply costs one item', () => {
  const replies: [what: string, scripted: RestScripted][] = [
    ['32 MiB', { body: ' '.repeat(32 * MIB) }],
    [
      'what unpacks to 64 MiB',
      {
        headers: { 'content-encoding': 'gzip' },
        body: gzipSync(Buffer.alloc(64 * MIB, 32)).toString('latin1'),
      },
    ],
    ['a header of 64 KiB', { headers: { 'x-more': 'x'.repeat(64 * 1024) } }],
    ['deep nesting', { body: '['.repeat(100_000) }],
    [
      'thousands of categories',
      {
        body: {
          ...ordinary,
          subcategory_flags: Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, true])),
        },
      },
    ],
  ];
  test.each(replies)('%s', async (_what, scripted) => {
    const server = await restGuard({ script: ({ content }) => (content === BAD ? scripted : undefined) });
    const outcomes = await judge(await connect([server]), prompts(30));
    expectOnlyFailure(outcomes, 17, 'INVALID_REPLY');
    expect(server.seen.filter(({ content }) => content === BAD).length).toBeLessThanOrEqual(2);
  });
});

test('a reply that trickles in runs into the timeout', async () => {
  const server = await restGuard({ script: ({ content }) => (content === BAD ? 'drip' : undefined) });
  const outcomes = await judge(await connect([server], { requestTimeoutMs: 500 }), prompts(30));
  expectOnlyFailure(outcomes, 17, 'TIMEOUT', 5);
});
