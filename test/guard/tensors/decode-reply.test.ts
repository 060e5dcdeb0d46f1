import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { makeFingerprint } from '../../../src/domain/fingerprint.ts';
import { CATEGORY_KEYS } from '../../../src/domain/taxonomy.ts';
import { roundScore } from '../../../src/guard/protocol/answer.ts';
import { decodeReply } from '../../../src/guard/tensors/decode-reply.ts';
import type { InferResponse } from '../../../src/guard/tensors/protocol.ts';
import { encodeBooleans, encodeFloats, encodeInts, encodeStrings } from '../../../src/guard/tensors/raw.ts';
import { decodeVersionReply } from '../../../src/guard/tensors/version-reply.ts';

type Output = [name: string, datatype: string, shape: number[], raw: Buffer];

function reply(outputs: readonly Output[]): InferResponse {
  return {
    model_name: 'guard',
    model_version: '1',
    id: '',
    outputs: outputs.map(([name, datatype, shape]) => ({ name, datatype, shape })),
    raw_output_contents: outputs.map(([, , , raw]) => raw),
  };
}

function outputsOf(rows: readonly Row[], batched: boolean): Output[] {
  const shape = (width: number): number[] => (batched ? [rows.length, width] : [width]);
  return [
    ['SCORE', 'FP32', shape(1), encodeFloats(rows.map((row) => row.score))],
    ['FLAGGED', 'BOOL', shape(1), encodeBooleans(rows.map((row) => row.flagged))],
    ['SUBCATEGORY_SCORES', 'FP32', shape(13), encodeFloats(rows.flatMap((row) => row.scores))],
    ['SUBCATEGORY_FLAGS', 'BOOL', shape(13), encodeBooleans(rows.flatMap((row) => row.flags))],
    ['CACHE_USAGE', 'INT32', shape(8), encodeInts(rows.flatMap((row) => row.usage))],
  ];
}

const probability = fc.float({ min: 0, max: 1, noNaN: true });
const row = fc.record({
  score: probability,
  flagged: fc.boolean(),
  scores: fc.array(probability, { minLength: 13, maxLength: 13 }),
  flags: fc.array(fc.boolean(), { minLength: 13, maxLength: 13 }),
  usage: fc.array(fc.integer(), { minLength: 8, maxLength: 8 }),
});

type Row = typeof row extends fc.Arbitrary<infer T> ? T : never;

test('answers are those of the rows', () => {
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 20 }), fc.boolean(), (given, wantBatched) => {
      const batched = wantBatched || given.length > 1;
      const answers = decodeReply(reply(outputsOf(given, batched)), given.length, { batched }, true)!;
      expect(answers.length).toBe(given.length);
      for (const [index, answer] of answers.entries()) {
        const expected = given[index]!;
        expect(answer!.score).toBe(roundScore(expected.score));
        expect(answer!.flagged).toBe(expected.flagged);
        expect(answer!.cacheUsage).toEqual(expected.usage);
        const populated = expected.scores.some((score) => score !== 0);
        expect(answer!.subcategoryScores === null).toBe(!populated);
        for (const [category, key] of CATEGORY_KEYS.entries()) {
          if (populated) expect(answer!.subcategoryScores![key]).toBe(roundScore(expected.scores[category]!));
          const isFlagged = (expected.flagged || populated) && expected.flags[category];
          if (isFlagged) expect(answer!.subcategoryFlags).toContain(key);
        }
      }
    }),
  );
});

const FLAGGED: Row = {
  score: 0.9,
  flagged: true,
  scores: CATEGORY_KEYS.map((_, index) => index / 20),
  flags: CATEGORY_KEYS.map((_, index) => index === 7),
  usage: [0, 0, 0, 0, 0, 0, 0, 0],
};
const ABSENT = { subcategoryScores: null, subcategoryFlags: null };

const answer = (outputs: readonly Output[]) => decodeReply(reply(outputs), 1, { batched: false }, true)?.[0];

describe('subcategories that are not populated are absent, which is not zero', () => {
  const flagged = outputsOf([FLAGGED], false);

  test.each([NaN, 0, 2])('of an answer that is not flagged, whose scores are all %d (C-215)', (score) => {
    const row = { ...FLAGGED, flagged: false, scores: FLAGGED.scores.map(() => score) };
    expect(answer(outputsOf([row], false))).toMatchObject(ABSENT);
  });

  test('of a guard that sends no such outputs, or empty ones', () => {
    expect(answer(flagged.slice(0, 2))).toMatchObject({ ...ABSENT, cacheUsage: null });
    const empty = flagged.map(([name, datatype, shape, raw]): Output =>
      name.startsWith('SUBCATEGORY') ? [name, datatype, [0], Buffer.alloc(0)] : [name, datatype, shape, raw],
    );
    expect(answer(empty)).toMatchObject(ABSENT);
  });

  test.each([0, Number.NaN])('when all are %d', (value) => {
    const scores = FLAGGED.scores.map(() => value);
    const none = { ...FLAGGED, scores, flags: FLAGGED.flags.map(() => false) };
    expect(answer(outputsOf([none], false))).toMatchObject(ABSENT);
  });

  test('one NaN among numbers is one absent probe', () => {
    const scores = FLAGGED.scores.map((score, index) => (index === 3 ? Number.NaN : score));
    const it = answer(outputsOf([{ ...FLAGGED, scores }], false))!;
    expect(Object.keys(it.subcategoryScores!)).toEqual(CATEGORY_KEYS.filter((_, index) => index !== 3));
    expect(it.subcategoryFlags).toEqual(['hate']);
  });
});

describe('what is not a verdict is never one (C-212)', () => {
  test.each([Number.NaN, Number.POSITIVE_INFINITY, -0.01, 1.01])('a score of %d (C-213)', (score) => {
    const rows = [FLAGGED, { ...FLAGGED, score }];
    const answers = decodeReply(reply(outputsOf(rows, true)), 2, { batched: true }, true)!;
    expect(answers[0]).not.toBeNull();
    expect(answers[1]).toBeNull();
  });

  const good = outputsOf([FLAGGED], false);
  const change = (name: string, to: (output: Output) => Output): Output[] =>
    good.map((output) => (output[0] === name ? to(output) : output));
  test.each<[why: string, outputs: Output[]]>([
    ['no outputs', []],
    ['SCORE twice', [...good, good[0]!]],
    ['SCORE as FP64', change('SCORE', ([name, , shape, raw]) => [name, 'FP64', shape, raw])],
    ['FLAGGED of 2', change('FLAGGED', ([name, type, shape]) => [name, type, shape, Buffer.from([2])])],
  ])('%s', (_, outputs) => {
    expect(answer(outputs)).toBeFalsy();
  });
});

describe('a reply at odds with itself', () => {
  const dimension = fc.oneof(
    fc.integer({ min: -2, max: 20 }),
    fc.constantFrom(-(2 ** 63), 2 ** 31, 2 ** 53, 2 ** 63, 1e9, Number.MAX_SAFE_INTEGER),
  );
  const shape = fc.array(dimension, { maxLength: 4 });
  const names = fc.constantFrom('SCORE', 'FLAGGED', 'SUBCATEGORY_SCORES', 'SUBCATEGORY_FLAGS', 'CACHE_USAGE');

  test('is none, whichever shape or size is not the one asked for', () => {
    const rowsAsked = fc.constantFrom(null, 1, 2, 3);
    fc.assert(
      fc.property(names, shape, rowsAsked, fc.uint8Array({ maxLength: 200 }), (name, odd, asked, bytes) => {
        const [rows, batched] = [asked ?? 1, asked !== null];
        const outputs = outputsOf(Array<Row>(rows).fill(FLAGGED), batched);
        const [, type, right, raw] = outputs.find((output) => output[0] === name)!;
        fc.pre(odd.join() !== right.join() && bytes.length !== raw.length);
        for (const [lyingShape, lyingRaw] of [[odd, raw] as const, [right, Buffer.from(bytes)] as const]) {
          const lie: Output = [name, type, lyingShape, lyingRaw];
          const lying = outputs.map((output) => (output[0] === name ? lie : output));
          expect(decodeReply(reply(lying), rows, { batched }, true)).toBeNull();
        }
      }),
    );
  });
});

const strings = (name: string, of: readonly string[]): Output => [name, 'BYTES', [1], encodeStrings(of)];
const said = (...elements: string[]) => decodeVersionReply(reply([strings('ANY_NAME', elements)]));

const hash = fc.stringMatching(/^[0-9a-f]{64}$/);
const artifacts = fc.dictionary(fc.stringMatching(/^[a-zA-Z][\w./-]{0,20}$/), hash, { minKeys: 1 });

test('every notation of the same hashes is the same fingerprint (C-229)', () => {
  fc.assert(
    fc.property(artifacts, (hashes) => {
      const entries = Object.entries(hashes);
      const expected = makeFingerprint(entries);
      const lines = entries.map(([name, sha256]) => `${name} ${sha256}`);
      const colons = entries.map(([name, sha256]) => `${name}: sha256:${sha256.toUpperCase()}`);
      const texts = [
        JSON.stringify(hashes),
        lines.join('\n'),
        `${lines.join('\r\n')}\r\n`,
        colons.join('\n'),
      ];
      for (const text of texts) expect(said(text)).toEqual(expected);
      expect(said(...lines.toReversed())).toEqual(expected);
    }),
  );
});

test('the hashes may stand in any STRING output', () => {
  const json = JSON.stringify({ weights: 'a'.repeat(64) });
  const score: Output = ['SCORE', 'FP32', [1], encodeFloats([0])];
  const found = decodeVersionReply(reply([score, strings('NOTE', ['hello']), strings('HASHES', [json])]));
  expect(found?.artifacts).toEqual({ weights: 'a'.repeat(64) });
});

test.each(['', '{"a":1}', '[]', '{', 'weights abc', 'a'.repeat(64)])('no hashes: %j', (text) => {
  expect(said(text)).toBeNull();
});
