import { describe, expect, test } from 'vitest';
import { chooseDecoder } from '../../src/formats/encoding/decoder.ts';
import { isInFolderEncoding } from '../../src/formats/encoding/likely-encoding.ts';
import { decodeReply } from '../../src/guard/tensors/decode-reply.ts';
import { decodeBytes } from '../../src/guard/tensors/raw.ts';
import { decodeInferResponse } from '../../src/guard/tensors/service.ts';
import { MalformedMessage } from '../../src/guard/tensors/wire/infer-messages.ts';
import { decodeBase64, isAudioContainer } from '../../src/guard-server/contract/contents.ts';
import { binaryKind } from '../../src/formats/binary-kind.ts';
import { readPngChunks } from '../../src/normalize/image/open-image.ts';
import { recogniseFormat } from '../../src/normalize/image/recognise.ts';
import { withoutTransforms, withOpaqueFirstFrame } from '../../src/normalize/image/stored-form.ts';
import { expectLinearGrowth } from './growth.ts';
import { bytePumps, SEED } from './pumps.ts';

const bytes = (...parts: (string | readonly number[])[]): Buffer =>
  Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))),
  );

/** How the files begin that the parsers know. */
const BEGINNINGS = [
  bytes(),
  bytes('GIF89a', [16, 0, 16, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]),
  bytes([0x89], 'PNG\r\n\x1a\n', [0, 0, 0, 13], 'IHDR', [0, 0, 0, 16, 0, 0, 0, 16, 8, 2, 0, 0, 0, 0, 0, 0, 0]),
  bytes([0, 0, 0, 24], 'ftypavif', [0, 0, 0, 0], 'avifmif1'),
  bytes([0, 0, 0, 24], 'ftypavif', [0, 0, 0, 0], 'avifmif1', [0x7f, 0xff, 0xff, 0xff], 'meta', [0, 0, 0, 0]),
  bytes([0xff, 0xd8, 0xff, 0xe0]),
  bytes([0x28, 0xb5, 0x2f, 0xfd, 0, 0x58]),
  bytes([0x80, 1, 4, 0x80, 0x80, 1]),
  bytes('RIFF', [255, 255, 255, 127], 'WEBP'),
  bytes('RIFF', [255, 255, 255, 127], 'WAVE'),
  bytes('ID3', [4, 0, 0, 0, 0, 0, 0]),
  bytes('OggS'),
  bytes([0xff, 0xfb, 0x90, 0]),
  bytes([0xff, 0xfe]),
  bytes([0xfe, 0xff]),
  bytes([0xff, 0xfe, 0, 0]),
]; // prettier-ignore

const decoded = (label: string | null) => (input: Buffer) => {
  const decoder = chooseDecoder(label, input.subarray(0, 256));
  for (let at = 0; at < input.length; at += 7) decoder.write(input.subarray(at, at + 7));
  return decoder.end();
};

const LAYOUT = { batched: true };

const replyOf = (scores: Buffer) => {
  const output = { name: 'SCORE', datatype: 'FP32', shape: [scores.length / 4, 1], parameters: {} };
  const head = { model_name: 'guard', model_version: '1', id: '' };
  return { ...head, outputs: [output], raw_output_contents: [scores] };
};

const responseOf = (message: Buffer): unknown => {
  try {
    return decodeInferResponse(message);
  } catch (error) {
    if (error instanceof MalformedMessage) return null;
    throw error;
  }
};

/** A ModelInferResponse with one tensor with these InferTensorContents. */
function tensorMessage(datatype: string, contents: Buffer): Buffer {
  const field = (number: number, content: Buffer): Buffer => {
    const head = Buffer.alloc(6, 0x80);
    head[0] = number * 8 + 2;
    for (let at = 1, left = content.length; at < head.length; at++, left = Math.floor(left / 0x80)) {
      head[at] = (left % 0x80) | (at < head.length - 1 ? 0x80 : 0);
    }
    return Buffer.concat([head, content]);
  };
  return field(5, Buffer.concat([field(2, Buffer.from(datatype)), field(5, contents)]));
}

const PARSERS: Readonly<Record<string, (input: Buffer) => unknown>> = {
  'the kind of a file': (input) => binaryKind(input, 'a.png', null),
  'the format of an image': (input) => recogniseFormat(input),
  'the first frame of a GIF': (input) => withOpaqueFirstFrame(input),
  'a PNG': (input) => readPngChunks(input),
  'the transforms of an AVIF': (input) => withoutTransforms(input),
  'a container of audio': (input) => isAudioContainer(input),
  base64: (input) => decodeBase64(Buffer.from(input.toString('base64'))),
  'a tensor of strings': (input) => decodeBytes(input),
  'a reply': (input) => decodeReply(replyOf(input), input.length / 4, LAYOUT, false),
  'a message of a reply': (input) => responseOf(input),
  'typed contents of a reply': (input) => [
    responseOf(tensorMessage('FP32', input)),
    responseOf(tensorMessage('BYTES', input)),
  ],
  'UTF-8': decoded(null),
  'Windows-1252': decoded('windows-1252'),
  'a file that may be in an encoding': (input) => isInFolderEncoding(input, 'shift_jis'),
};

describe(`of seed ${SEED}`, () => {
  const pumps = bytePumps(SEED, BEGINNINGS, 16);

  test.each(Object.entries(PARSERS))('%s takes linear time', async (name, parse) => {
    for (const { name: made, of } of pumps) await expectLinearGrowth(of, parse, `${name}, ${made}`);
    expect(pumps.length).toBeGreaterThan(300);
  });
});
