import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { RequestError } from '../../../src/guard-server/contract/request-error.ts';
import { readInferCall, type InferCall } from '../../../src/guard-server/http/infer-request.ts';
import { decodeBooleans, decodeBytes } from '../../../src/guard/tensors/raw.ts';
import { column, flags, type TestTensor } from '../../helpers/guards/guard-client.ts';
import { withBinary } from '../../helpers/guards/http-infer.ts';

const GUARD = { name: 'guard', version: '' };

function read(json: unknown): InferCall {
  return readInferCall(Buffer.from(JSON.stringify(json)), undefined, GUARD);
}

function readBinary(json: object, binary: readonly Buffer[]): InferCall {
  const { headers, body } = withBinary(json, binary);
  return readInferCall(body, headers['inference-header-content-length'], GUARD);
}

const text = { name: 'TEXT', datatype: 'BYTES', shape: [1, 1], data: ['a'] };

/** A tensor, and its elements as they stand in JSON. */
interface Sample {
  readonly tensor: TestTensor;
  readonly elements: readonly (string | boolean)[];
  readonly isNested: boolean;
  readonly isBinary: boolean;
}

const samples: fc.Arbitrary<Sample[]> = fc.array(
  fc
    .record({
      name: fc.string(),
      elements: fc.oneof(
        fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 4 }),
        fc.array(fc.boolean(), { minLength: 1, maxLength: 4 }),
      ),
      isNested: fc.boolean(),
      isBinary: fc.boolean(),
    })
    .map(({ name, elements, ...form }) => {
      const isBoolean = typeof elements[0] === 'boolean';
      const tensor = isBoolean ? flags(name, elements as boolean[]) : column(name, elements as string[]);
      return { tensor, elements, ...form };
    }),
  { maxLength: 4 },
);

function jsonInput({ tensor: { raw, ...tensor }, elements, isNested, isBinary }: Sample): object {
  if (isBinary) return { ...tensor, parameters: { binary_data_size: raw.length } };
  return { ...tensor, data: isNested ? elements.map((element) => [element]) : elements };
}

/** The elements of an input, from typed or raw contents. */
function elementsOf({ request }: InferCall, index: number): (string | boolean)[] {
  const { contents, datatype } = request.inputs[index]!;
  const raw = request.raw_input_contents[index];
  if (datatype === 'BOOL') return raw === undefined ? [...contents.booleans] : decodeBooleans(raw)!;
  return (raw === undefined ? contents.bytes : decodeBytes(raw)!).map(String);
}

it('reads every mixture of JSON, flat or nested, and binary data', () => {
  fc.assert(
    fc.property(samples, fc.string(), (tensors, id) => {
      const binary = tensors.filter(({ isBinary }) => isBinary).map(({ tensor }) => tensor.raw);
      const call = readBinary({ id, inputs: tensors.map(jsonInput) }, binary);
      expect(call.request.id).toBe(id);
      expect(call.request.inputs.map(({ name, datatype, shape }) => ({ name, datatype, shape }))).toEqual(
        tensors.map(({ tensor: { name, datatype, shape } }) => ({ name, datatype, shape })),
      );
      tensors.forEach(({ elements }, index) => expect(elementsOf(call, index)).toEqual(elements));
      expect(call.request.raw_input_contents).toHaveLength(binary.length === 0 ? 0 : tensors.length);
    }),
  );
});

const withText = (change: object) => () => read({ inputs: [{ ...text, ...change }] });
const sized = (bytes: number) => ({ data: undefined, parameters: { binary_data_size: bytes } });
const bytes = (body: string) => () => readInferCall(Buffer.from(body, 'latin1'), undefined, GUARD);
const refusals: [what: string, body: () => InferCall, error: RegExp][] = [
  ['an empty body', bytes(''), /not JSON in UTF-8/],
  ['other bytes than UTF-8', bytes('{"id":"\xff"}'), /UTF-8/],
  ['an array', () => read([]), /the body: .*expected object/],
  ['an id that is a number', () => read({ id: 7, inputs: [] }), /id: .*expected string/],
  ['a shape of strings', withText({ shape: ['1'] }), /inputs\.0\.shape\.0: /],
  ['a parameter that is an object', () => read({ parameters: { a: {} } }), /parameters\.a: /],
  ['data that are null', withText({ data: null }), /inputs\.0\.data: /],
  ['numbers in BYTES', withText({ data: [1] }), /not of its data type/],
  ['booleans in BYTES', withText({ data: ['a', true] }), /not of its data type/],
  ['data nested too deeply', withText({ data: [[[['a']]]] }), /not of its data type/],
  ['numbers in BOOL', withText({ datatype: 'BOOL', data: [1] }), /not of its data type/],
  ['an input without data', withText({ data: undefined }), /either data or/],
  ['data twice', withText({ parameters: { binary_data_size: 1 } }), /either data or/],
  ['a negative size', withText(sized(-1)), /binary_data_size: /],
  ['more binary data', () => readBinary({ inputs: [text] }, [Buffer.alloc(3)]), /3 bytes follow/],
  ['less binary data', withText(sized(9)), /0 bytes follow the JSON, the inputs have 9/],
  ['a flag that is a number', () => read({ parameters: { binary_data_output: 1 } }), /binary_data_output: /],
];

test.each(refusals)('refuses %s', (_, body, error) => {
  expect(body).toThrow(RequestError);
  expect(body).toThrow(error);
});

test.each(['0', '-1', '1.5', 'x', '', '99999', '12345678901234567890'])(
  'refuses the length %j of its JSON',
  (length) => {
    expect(() => readInferCall(Buffer.from('{}'), length, GUARD)).toThrow(/is not between 1 and 2$/);
  },
);
