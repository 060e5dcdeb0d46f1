import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { GuardRequest, Turn } from '../../../src/domain/request.ts';
import { encodeRequest, type RequestKind, requestKindOf } from '../../../src/guard/tensors/encode-request.ts';
import type { InferRequest } from '../../../src/guard/tensors/protocol.ts';
import { decodeBooleans, decodeBytes } from '../../../src/guard/tensors/raw.ts';
import { audio, conversation, image, prompt, response } from '../../helpers/guards/requests.ts';

/** Inputs by name, with their elements, after checking that every tensor holds what its shape says. */
function read(request: InferRequest): Record<string, { shape: readonly number[]; values: unknown[] }> {
  expect(request.inputs.length).toBe(request.raw_input_contents.length);
  return Object.fromEntries(
    request.inputs.map(({ name, datatype, shape }, index) => {
      const raw = request.raw_input_contents[index]!;
      const values =
        datatype === 'BOOL' ? decodeBooleans(raw)! : decodeBytes(raw)!.map((bytes) => bytes.toString());
      expect(values.length).toBe(shape.reduce((product, size) => product * size, 1));
      return [name, { shape, values }];
    }),
  );
}

const text = fc.string({ unit: 'grapheme' });
const turn = fc.tuple(fc.constantFrom('system', 'user', 'assistant'), text) as fc.Arbitrary<Turn>;
const bytes = fc.uint8Array({ maxLength: 100 }).map((array) => Buffer.from(array));
const flag = fc.boolean();

type Inputs = Readonly<Record<string, readonly unknown[]>>;

/** Requests of each kind, with the contents that they are to have beside REQUEST_TYPE and MODALITY. */
const requests: Readonly<Record<Exclude<RequestKind, 'generation'>, fc.Arbitrary<[GuardRequest, Inputs]>>> = {
  prompt: text.map((of) => [prompt(of), { TEXT: [of] }]),
  response: text.map((of) => [response(null, of), { RESPONSE_TEXT: [of] }]),
  'response-with-prompt': fc
    .tuple(text, text)
    .map(([asked, of]) => [response(asked, of), { TEXT: [asked], RESPONSE_TEXT: [of] }]),
  image: bytes.map((of) => [image(of), { IMAGE: [of.toString('base64')] }]),
  'image-with-caption': fc
    .tuple(bytes, text)
    .map(([of, caption]) => [image(of, caption), { IMAGE: [of.toString('base64')], TEXT: [caption] }]),
  audio: bytes.map((of) => [audio(of), { AUDIO: [of.toString('base64')] }]),
  'audio-with-transcript': fc
    .tuple(bytes, text)
    .map(([of, said]) => [audio(of, said), { AUDIO: [of.toString('base64')], TEXT: [said] }]),
  multiturn: fc
    .tuple(fc.array(turn, { minLength: 1, maxLength: 6 }), fc.nat(5), flag)
    .map(([all, at, isKept]) => {
      const turns = 1 + (at % all.length);
      const sent = { MESSAGES: all.slice(0, turns).flat(), SESSION_ID: ['s'], CACHE_WRITE: [isKept] };
      return [conversation(all, { turns, of: isKept ? 7 : null }), sent];
    }),
};

test.each(Object.entries(requests))(
  'a single request of %s carries its content and always the same inputs (C-201, C-205, C-207)',
  (kind, given) => {
    fc.assert(
      fc.property(given, flag, ([request, contents], batched) => {
        expect(requestKindOf(request)).toBe(kind);
        const { requestType, modality } = request;
        const shapeOf = (name: string, { length }: readonly unknown[]) => [
          ...(batched ? [1] : []),
          ...(name === 'MESSAGES' ? [length / 2, 2] : [1]),
        ];
        const expected = Object.entries({ REQUEST_TYPE: [requestType], MODALITY: [modality], ...contents });
        expect(read(encodeRequest([{ request, sessionId: 's' }], { batched }))).toEqual(
          Object.fromEntries(
            expected.map(([name, values]) => [name, { shape: shapeOf(name, values), values }]),
          ),
        );
      }),
    );
  },
);
