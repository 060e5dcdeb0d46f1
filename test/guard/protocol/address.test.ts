import { expect, test } from 'vitest';
import { expandEndpoint, type Lookup, parseAddress } from '../../../src/guard/triton/grpc-address.ts';

const at = (address: string) => ({ name: 'it', address });

const limits = { timeoutMs: 50, signal: new AbortController().signal };
const expand = (address: string, find: Lookup) => expandEndpoint(at(address), limits, find);

test.each([
  ['grpc://gpu-1:9001', { target: 'gpu-1:9001', secure: false, loopback: false }],
  ['grpc://gpu-1', { target: 'gpu-1:8001', secure: false }],
  ['grpcs://guard.example/', { target: 'guard.example:8001', secure: true }],
  ['grpc://[::1]:8001', { target: '[::1]:8001', loopback: true }],
  ['grpc://127.0.0.1:1', { target: '127.0.0.1:1', loopback: true }],
  ['grpc://127.0.0.1.example:1', { loopback: false }],
])('%s', (address, expected) => {
  expect(parseAddress(at(address))).toMatchObject(expected);
});

const WRONG = ['gpu-1:8001', 'http://gpu-1:8000', 'grpc://', 'grpc://a/b', 'grpc://a?b=c', ''];
test.each(WRONG)('not an address: %j', (address) => {
  expect(() => parseAddress(at(address))).toThrow(expect.objectContaining({ kind: 'usage' }));
});

test('a name with several addresses becomes several endpoints, all with the name as authority', async () => {
  const targets = await expand('grpcs://fleet:9001', async () => [
    { address: '10.0.0.2', family: 4 },
    { address: '10.0.0.1', family: 4 },
    { address: 'fd00::1', family: 6 },
  ]);
  const same = { secure: true, loopback: false, authority: 'fleet:9001', serverName: 'fleet' };
  expect(targets).toEqual(
    ['10.0.0.1', '10.0.0.2'].map((ip) => ({ name: `it#${ip}`, address: { target: `${ip}:9001`, ...same } })),
  );
});

test('a name whose lookup fails is not expanded; localhost and addresses are not looked up', async () => {
  const none = () => Promise.reject(new Error('ENOTFOUND'));
  for (const address of ['grpc://later', 'grpc://localhost', 'grpc://10.1.2.3', 'grpc://[fd00::1]']) {
    expect(await expand(address, none)).toMatchObject([{ name: 'it' }]);
  }
});
