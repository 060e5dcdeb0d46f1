import { hash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalRequest, contentSha256 } from '../../src/domain/content-hash.ts';
import { makeFingerprint } from '../../src/domain/fingerprint.ts';
import { itemsSha256 } from '../../src/domain/items-hash.ts';
import type { ItemRequest, Turn } from '../../src/domain/request.ts';
import { payloadSha256 } from '../../src/domain/shard.ts';
import { conversation, prompt, response } from '../helpers/guards/requests.ts';
import { knownItem, promptItem } from '../helpers/items.ts';

const turn = fc.tuple(fc.constantFrom('system', 'user', 'assistant'), fc.string()) as fc.Arbitrary<Turn>;
const request: fc.Arbitrary<ItemRequest> = fc.oneof(
  fc.string().map(prompt),
  fc.tuple(fc.option(fc.string()), fc.string()).map(([asked, answered]) => response(asked, answered)),
  fc.array(turn, { minLength: 1 }).map((messages) => conversation(messages)),
);

describe('content_sha256', () => {
  it('is the SHA-256 of the fields as netstrings', () => {
    const form = '12:guardsweep-1,6:prompt,4:text,6:grüß,';
    expect(canonicalRequest(prompt('grüß'))).toBe(form);
    expect(contentSha256(prompt('grüß'))).toBe(hash('sha256', form));
  });

  it('differs exactly where what is submitted differs', () => {
    fc.assert(
      fc.property(request, request, (a, b) => {
        const same = JSON.stringify({ ...a, conversation: 0 }) === JSON.stringify({ ...b, conversation: 0 });
        expect(canonicalRequest(a) === canonicalRequest(b)).toBe(same);
      }),
    );
  });
});

describe('makeFingerprint', () => {
  const a = 'A'.repeat(64);
  const b = 'b'.repeat(64);

  it('does not depend on the order, case or prefix of the answer', () => {
    const one = makeFingerprint(Object.entries({ weights: a, code: b }));
    expect(one).toEqual(makeFingerprint(Object.entries({ code: `sha256:${b}`, weights: a.toLowerCase() })));
    expect(one?.id).toBe(`sha256:${hash('sha256', `code ${b}\nweights ${a.toLowerCase()}\n`)}`);
  });

  it('refuses what is not a list of SHA-256 hashes', () => {
    const wrong: [string, string][][] = [[], [['weights', 'abc']], [['', a]], [['two\nlines', a]]];
    for (const artifacts of wrong) expect(makeFingerprint(artifacts)).toBeNull();
  });
});

it('an item with a reused verdict hashes like one that is still to be judged', () => {
  const judged = promptItem(3, 'text 3');
  const settled = knownItem(3, 0.5);
  expect(payloadSha256([settled])).toBe(payloadSha256([judged]));
  expect(itemsSha256([settled])).toBe(itemsSha256([judged]));
});
