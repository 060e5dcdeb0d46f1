import { expect, it } from 'vitest';
import { readInferReply } from '../../../src/guard/kserve-http/infer-reply.ts';
import { encodeBooleans, encodeFloats, encodeInts, encodeStrings } from '../../../src/guard/tensors/raw.ts';

const read = (value: unknown) => readInferReply(Buffer.from(JSON.stringify(value)), undefined);
const output = (datatype: string, data: unknown, shape = [1]) => ({ name: 'X', datatype, shape, data });

it('reads elements from JSON, flat or nested, into their raw form', () => {
  const reply = read({
    model_version: '3',
    outputs: [
      output('FP32', [[0.5], [null]], [2, 1]),
      output('INT32', [1, -2]),
      output('BOOL', [true, false]),
      output('BYTES', ['é', '']),
      output('FP64', [1]),
    ],
  });
  expect(reply!.model_version).toBe('3');
  expect(reply!.outputs[0]).toEqual({ name: 'X', datatype: 'FP32', shape: [2, 1] });
  expect(reply!.raw_output_contents).toEqual([
    encodeFloats([0.5, Number.NaN]),
    encodeInts([1, -2]),
    encodeBooleans([true, false]),
    encodeStrings(['é', '']),
    Buffer.alloc(0),
  ]);
});

it('reads binary data behind the JSON, beside elements in it', () => {
  const outputs = [
    { name: 'A', datatype: 'FP32', shape: [1], parameters: { binary_data_size: 4 } },
    output('BOOL', [true]),
    { name: 'B', datatype: 'BYTES', shape: [1], parameters: { binary_data_size: 5 } },
  ];
  const json = Buffer.from(JSON.stringify({ outputs }));
  const [a, b] = [encodeFloats([0.25]), encodeStrings(['x'])];
  const body = Buffer.concat([json, a, b]);
  const reply = readInferReply(body, String(json.length))!;
  expect(reply.raw_output_contents).toEqual([a, encodeBooleans([true]), b]);
  expect(reply.model_version).toBe('');
  for (const length of ['', '-1', '1e2', String(json.length - 1), String(body.length + 1)]) {
    expect(readInferReply(body, length)).toBeNull();
  }
  expect(readInferReply(body.subarray(0, -1), String(json.length))).toBeNull();
  expect(readInferReply(Buffer.concat([body, a]), String(json.length))).toBeNull();
});

it.each<[what: string, outputs: unknown]>([
  ['no list', {}],
  ['a number for a BOOL', [output('BOOL', [1])]],
  ['a fraction for an INT32', [output('INT32', [0.5])]],
  ['data nested too deep', [output('FP32', [[[[[0.5]]]]])]],
  ['a negative size', [{ ...output('FP32', undefined), parameters: { binary_data_size: -4 } }]],
])('%s is no reply', (_, outputs) => {
  expect(read({ outputs })).toBeNull();
});

it('what is not JSON is no reply', () => {
  for (const text of ['', '{', '<html>', '{"outputs":[{"data":[NaN]}]}', '['.repeat(50_000)]) {
    expect(readInferReply(Buffer.from(text), undefined)).toBeNull();
  }
});
