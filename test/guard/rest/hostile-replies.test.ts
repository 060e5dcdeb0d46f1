import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { ItemCode } from '../../../src/domain/item-error.ts';
import {
  closeAfterEach,
  connect,
  failure,
  judge,
  prompts,
  restGuard,
  verdict,
} from '../../helpers/guards/guard-pool.ts';
import type { RestScripted } from '../../helpers/guards/rest-guard.ts';

closeAfterEach();

const MIB = 1024 * 1024;
const BAD = 'text 17';
const ordinary = { flagged: false, score: 0.1, subcategory_flags: {}, latency_ms: 1 };

describe('a malformed reply costs one item', () => {
  const replies: [what: string, scripted: RestScripted, code: ItemCode][] = [
    ['32 MiB', { body: ' '.repeat(32 * MIB) }, 'INVALID_REPLY'],
    [
      'a verdict after megabytes of space',
      { body: `${' '.repeat(MIB)}${JSON.stringify(ordinary)}` },
      'INVALID_REPLY',
    ],
    [
      'what unpacks to 64 MiB',
      {
        headers: { 'content-encoding': 'gzip' },
        body: gzipSync(Buffer.alloc(64 * MIB, 32)).toString('latin1'),
      },
      'INVALID_REPLY',
    ],
    [
      'a verdict that is packed',
      { headers: { 'content-encoding': 'gzip' }, body: gzipSync('{}').toString('latin1') },
      'INVALID_REPLY',
    ],
    ['a header of 64 KiB', { headers: { 'x-more': 'x'.repeat(64 * 1024) } }, 'INVALID_REPLY'],
    [
      'thousands of headers',
      { headers: Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`x-${index}`, 'y'])) },
      'INVALID_REPLY',
    ],
    ['deep nesting', { body: '['.repeat(100_000) }, 'INVALID_REPLY'],
    ['a score of 7', { body: { ...ordinary, score: 7 } }, 'INVALID_REPLY'],
    ['a score that is none', { body: '{"flagged":false,"score":NaN}' }, 'INVALID_REPLY'],
    [
      'thousands of categories',
      {
        body: {
          ...ordinary,
          subcategory_flags: Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, true])),
        },
      },
      'INVALID_REPLY',
    ],
  ];
  test.each(replies)('%s', async (_what, scripted, code) => {
    const server = await restGuard({ script: ({ content }) => (content === BAD ? scripted : undefined) });
    const outcomes = await judge(await connect([server]), prompts(30));
    outcomes.forEach((outcome, index) => {
      if (index === 17) expect(failure(outcome)).toMatchObject({ error: { code }, attempts: 1 });
      else verdict(outcome);
    });
    expect(server.seen.filter(({ content }) => content === BAD).length).toBeLessThanOrEqual(2);
  });
});

test('a reply that trickles in runs into the timeout', async () => {
  const server = await restGuard({ script: ({ content }) => (content === BAD ? 'drip' : undefined) });
  const outcomes = await judge(await connect([server], { requestTimeoutMs: 2000 }), prompts(30));
  expect(failure(outcomes[17])).toMatchObject({ error: { code: 'TIMEOUT' }, attempts: 5 });
});
