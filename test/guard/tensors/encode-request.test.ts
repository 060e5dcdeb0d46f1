import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { GuardRequest, Turn } from '../../../src/domain/request.ts';
import { encodeRequest, type RequestKind, requestKindOf } from '../../../src/guard/tensors/encode-request.ts';
import type { InferRequest } from '../../../src/guard/tensors/protocol.ts';
import { decodeBooleans, decodeBytes } from '../../../src/guard/tensors/raw.ts';

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
const none = fc.constant(null);
const prompt = { requestType: fc.constant('prompt' as const) };
const response = { requestType: fc.constant('response' as const), modality: fc.constant('text' as const) };
const image = { ...prompt, modality: fc.constant('image' as const), image: bytes };
const audio = { ...prompt, modality: fc.constant('audio' as const), audio: bytes };
const requests: Readonly<Record<Exclude<RequestKind, 'generation'>, fc.Arbitrary<GuardRequest>>> = {
  prompt: fc.record({ ...prompt, modality: fc.constant('text' as const), text }),
  response: fc.record({ ...response, prompt: none, response: text }),
  'response-with-prompt': fc.record({ ...response, prompt: text, response: text }),
  image: fc.record({ ...image, caption: none }),
  'image-with-caption': fc.record({ ...image, caption: text }),
  audio: fc.record({ ...audio, transcript: none }),
  'audio-with-transcript': fc.record({ ...audio, transcript: text }),
  multiturn: fc.array(turn, { minLength: 1, maxLength: 6 }).chain((messages) =>
    fc.record({
      requestType: fc.constant('multiturn' as const),
      modality: fc.constant('text' as const),
      messages: fc.constant(messages),
      turns: fc.integer({ min: 1, max: messages.length }),
      conversation: fc.option(fc.nat(), { nil: null }),
    }),
  ),
};
const requestKinds = Object.keys(requests) as (keyof typeof requests)[];

test.each(requestKinds)(
  'a single request of %s carries its content and always the same inputs (C-201, C-205, C-207)',
  (requestKind) => {
    let inputs: string | null = null;
    fc.assert(
      fc.property(requests[requestKind], fc.boolean(), (it, batched) => {
        expect(requestKindOf(it)).toBe(requestKind);
        const tensors = read(encodeRequest([{ request: it, sessionId: 's' }], { batched }));
        const names = Object.keys(tensors).join();
        expect(inputs ?? names).toBe(names);
        inputs = names;
        const one = batched ? [1, 1] : [1];
        expect(tensors['REQUEST_TYPE']).toEqual({ shape: one, values: [it.requestType] });
        expect(tensors['MODALITY']).toEqual({ shape: one, values: [it.modality] });
        if (it.requestType === 'prompt') {
          const text =
            it.modality === 'text' ? it.text : it.modality === 'image' ? it.caption : it.transcript;
          expect(tensors['TEXT']).toEqual(text === null ? undefined : { shape: one, values: [text] });
        }
        if (it.modality === 'image') {
          expect(tensors['IMAGE']).toEqual({ shape: one, values: [it.image.toString('base64')] });
        }
        if (it.modality === 'audio') {
          expect(tensors['AUDIO']).toEqual({ shape: one, values: [it.audio.toString('base64')] });
        }
        if (it.requestType === 'response') {
          expect(tensors['RESPONSE_TEXT']).toEqual({ shape: one, values: [it.response] });
          expect(tensors['TEXT']?.values ?? null).toEqual(it.prompt === null ? null : [it.prompt]);
        }
        if (it.requestType === 'multiturn') {
          expect(tensors['MESSAGES']).toEqual({
            shape: batched ? [1, it.turns, 2] : [it.turns, 2],
            values: it.messages.slice(0, it.turns).flat(),
          });
          expect(tensors['CACHE_WRITE']).toEqual({ shape: one, values: [it.conversation !== null] });
        }
      }),
    );
  },
);
