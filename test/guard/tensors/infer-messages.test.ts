import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { decodeInferRequest, decodeInferResponse, loadService } from '../../../src/guard/tensors/service.ts';
import * as raw from '../../../src/guard/tensors/raw.ts';
import { MalformedMessage } from '../../../src/guard/tensors/wire/infer-messages.ts';

const { requestSerialize, responseSerialize } = loadService()['ModelInfer']!;

/** A field of a number and wire type, by hand. */
const field = (number: number, wireType: number, ...rest: number[]) =>
  Buffer.from([number * 8 + wireType, ...rest]);

function embedded(number: number, content: Buffer): Buffer {
  const length: number[] = [];
  let left = content.length;
  for (; left >= 0x80; left = Math.floor(left / 0x80)) length.push((left % 0x80) | 0x80);
  return Buffer.concat([field(number, 2, ...length, left), content]);
}

const name = fc.string({ maxLength: 20 });
const dimension = fc.oneof(
  fc.constantFrom(-1, 0, 127, 128, 2 ** 31, -(2 ** 31), Number.MIN_SAFE_INTEGER),
  fc.maxSafeInteger(),
);
const shape = fc.array(dimension, { maxLength: 6 });
const bytes = fc.uint8Array({ maxLength: 300 }).map((given) => Buffer.from(given));
const few = { maxKeys: 3, noNullPrototype: true };
const parameters = fc.dictionary(name, fc.constant({ int64_param: -7 }), few);
const ids = { model_name: name, model_version: name, id: name };

describe('a message as the library writes it', () => {
  it('is read back as a request', () => {
    const contents = fc.record({
      bool_contents: fc.array(fc.boolean(), { maxLength: 4 }),
      bytes_contents: fc.array(bytes, { maxLength: 4 }),
      int_contents: fc.array(fc.integer(), { maxLength: 2 }),
      int64_contents: fc.array(fc.maxSafeInteger(), { maxLength: 4 }),
    });
    const input = fc.record({ name, datatype: name, shape, parameters, contents });
    const value = fc.oneof(
      fc.record({ bool_param: fc.boolean() }),
      fc.record({ int64_param: fc.maxSafeInteger() }),
      fc.record({ uint64_param: fc.maxSafeNat() }),
      fc.record({ string_param: name }),
      fc.record({ double_param: fc.double() }),
    );
    const request = fc.record({
      ...ids,
      parameters: fc.dictionary(name, value, few),
      inputs: fc.array(input, { maxLength: 4 }),
      outputs: fc.array(fc.record({ name, parameters }), { maxLength: 3 }),
      raw_input_contents: fc.array(bytes, { maxLength: 4 }),
    });
    fc.assert(
      fc.property(request, (given) => {
        const read = (value: object): unknown =>
          'double_param' in value ? null : (Object.values(value) as unknown[])[0];
        expect(decodeInferRequest(requestSerialize(given))).toEqual({
          ...given,
          parameters: new Map(Object.entries(given.parameters).map(([key, value]) => [key, read(value)])),
          inputs: given.inputs.map(({ contents: typed, ...tensor }) => ({
            ...tensor,
            parameters: Object.keys(tensor.parameters),
            contents: {
              booleans: typed.bool_contents,
              bytes: typed.bytes_contents,
              longs: typed.int64_contents,
              hasOthers: typed.int_contents.length > 0,
            },
          })),
          outputs: given.outputs.map((output) => ({ ...output, parameters: Object.keys(output.parameters) })),
        });
      }),
    );
  });

  it('is read back as a response', () => {
    const response = fc.record({
      ...ids,
      outputs: fc.array(fc.record({ name, datatype: name, shape }), { maxLength: 6 }),
      raw_output_contents: fc.array(bytes, { maxLength: 6 }),
    });
    fc.assert(
      fc.property(response, (given) => {
        const written = responseSerialize({ ...given, parameters: { priority: { uint64_param: 1 } } });
        expect(decodeInferResponse(written)).toEqual(given);
      }),
    );
  });
});

describe('typed contents of a response', () => {
  /** Arrays of a type, with their raw form. */
  const typed = <T>(datatype: string, field: string, value: fc.Arbitrary<T>, asRaw: (all: T[]) => Buffer) =>
    fc.array(value, { maxLength: 20 }).map((values) => {
      const contents: Record<string, readonly unknown[]> = { [field]: values };
      return { datatype, contents, raw: asRaw(values) };
    });
  const text = fc.string().map((value) => Buffer.from(value));
  const tensor = fc.oneof(
    typed('FP32', 'fp32_contents', fc.float({ noDefaultInfinity: true }), raw.encodeFloats),
    typed('BOOL', 'bool_contents', fc.boolean(), raw.encodeBooleans),
    typed('INT32', 'int_contents', fc.integer(), raw.encodeInts),
    typed('BYTES', 'bytes_contents', text, (values) => raw.encodeStrings(values.map(String))),
    typed('FP64', 'fp64_contents', fc.double(), () => Buffer.alloc(0)),
  );

  const withTensors = (
    tensors: readonly { datatype: string; contents: object }[],
    rawContents: readonly Buffer[] = [],
  ): Buffer =>
    responseSerialize({
      outputs: tensors.map(({ datatype, contents }) => ({ name: 'A', datatype, shape: [1], contents })),
      raw_output_contents: rawContents,
    });

  it('are read in raw form', () => {
    fc.assert(
      fc.property(fc.array(tensor, { maxLength: 6 }), (tensors) => {
        const { outputs, raw_output_contents: found } = decodeInferResponse(withTensors(tensors));
        expect(outputs.map(({ datatype }) => datatype)).toEqual(tensors.map(({ datatype }) => datatype));
        const isTyped = tensors.some(({ contents }) => Object.values(contents)[0]!.length > 0);
        expect(found).toEqual(isTyped ? tensors.map((given) => given.raw) : []);
      }),
    );
  });

  it('together with raw ones, or of another type, are no message', () => {
    const floats = { datatype: 'FP32', contents: { fp32_contents: [1] } };
    const wrong = { datatype: 'FP32', contents: { int_contents: [1] } };
    for (const message of [withTensors([floats], [raw.encodeFloats([1])]), withTensors([wrong])])
      expect(() => decodeInferResponse(message)).toThrow(MalformedMessage);
  });
});

describe('bytes from anywhere', () => {
  it('are a message or none, and nothing else happens', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (given) => {
        const message = Buffer.from(given);
        for (const decode of [decodeInferRequest, decodeInferResponse]) {
          try {
            expect(decode(message).id).toBeTypeOf('string');
          } catch (error) {
            expect(error).toBeInstanceOf(MalformedMessage);
          }
        }
      }),
    );
  });

  it('are elements or none, never more than is there', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (given) => {
        const elements = Buffer.from(given);
        const strings = raw.decodeBytes(elements);
        if (strings !== null) {
          expect(strings.reduce((sum, { length }) => sum + 4 + length, 0)).toBe(elements.length);
        }
        expect(raw.decodeBooleans(elements) === null).toBe(given.some((byte) => byte > 1));
        expect(raw.decodeFloats(elements) === null).toBe(elements.length % 4 !== 0);
        expect(raw.decodeInts(elements) === null).toBe(elements.length % 4 !== 0);
      }),
    );
  });

  const lying = Buffer.concat([embedded(1, Buffer.alloc(100)), field(3, 2, 9)]);
  test.each<[what: string, message: Buffer]>([
    ['a group without an end', field(9, 3)],
    ['groups in groups', Buffer.alloc(60_000, field(9, 3))],
    ['a length beyond the end', field(7, 2, 0xff, 0xff, 0xff, 0xff, 0x0f)],
    ['a varint that ends nowhere', field(9, 0, 0xff)],
    ['a length beyond the end of its tensor', embedded(5, lying)],
  ])('with %s are no message', (_what, message) => {
    expect(() => decodeInferRequest(message)).toThrow(MalformedMessage);
    expect(() => decodeInferResponse(message)).toThrow(MalformedMessage);
  });
});
