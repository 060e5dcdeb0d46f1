import fc from 'fast-check';
import { expect, test } from 'vitest';
import { makeFingerprint } from '../../../src/domain/fingerprint.ts';
import type { InferResponse } from '../../../src/guard/tensors/protocol.ts';
import { encodeFloats, encodeStrings } from '../../../src/guard/tensors/raw.ts';
import { decodeVersionReply } from '../../../src/guard/tensors/version-reply.ts';
import { expectLinear } from '../../helpers/linear.ts';

function reply(...outputs: [name: string, datatype: string, raw: Buffer][]): InferResponse {
  return {
    model_name: 'guard',
    model_version: '1',
    id: '',
    outputs: outputs.map(([name, datatype]) => ({ name, datatype, shape: [1] })),
    raw_output_contents: outputs.map(([, , raw]) => raw),
  };
}

function said(...elements: string[]): InferResponse {
  return reply(['ANY_NAME', 'BYTES', encodeStrings(elements)]);
}

const hash = fc.stringMatching(/^[0-9a-f]{64}$/);
const artifacts = fc.dictionary(fc.stringMatching(/^[a-zA-Z][\w./-]{0,20}$/), hash, {
  minKeys: 1,
  maxKeys: 8,
});

test('every notation of the same hashes is the same fingerprint (C-229)', () => {
  fc.assert(
    fc.property(artifacts, (hashes) => {
      const entries = Object.entries(hashes);
      const expected = makeFingerprint(entries);
      const lines = entries.map(([name, sha256]) => `${name} ${sha256}`);
      expect(decodeVersionReply(said(JSON.stringify(hashes)))).toEqual(expected);
      expect(decodeVersionReply(said(lines.join('\n')))).toEqual(expected);
      expect(decodeVersionReply(said(...lines.toReversed()))).toEqual(expected);
      expect(decodeVersionReply(said(`${lines.join('\r\n')}\r\n`))).toEqual(expected);
      const colons = entries.map(([name, sha256]) => `${name}: sha256:${sha256.toUpperCase()}`);
      expect(decodeVersionReply(said(colons.join('\n')))).toEqual(expected);
    }),
  );
});

test('the hashes may stand in any STRING output', () => {
  const json = JSON.stringify({ weights: 'a'.repeat(64) });
  const found = decodeVersionReply(
    reply(
      ['SCORE', 'FP32', encodeFloats([0])],
      ['NOTE', 'BYTES', encodeStrings(['hello'])],
      ['HASHES', 'BYTES', encodeStrings([json])],
    ),
  );
  expect(found?.artifacts).toEqual({ weights: 'a'.repeat(64) });
});

test.each(['', '{"a":1}', '[]', '{', 'weights abc', 'a'.repeat(64)])('no hashes: %j', (text) => {
  expect(decodeVersionReply(said(text))).toBeNull();
});

test('takes linear time over a line that is none', () => {
  for (const part of [' ', ':', ' : ', 'a', 'a ']) {
    expectLinear(
      (length) => part.repeat(length / part.length),
      (text) => decodeVersionReply(said(`${text}.`)),
    );
  }
});
