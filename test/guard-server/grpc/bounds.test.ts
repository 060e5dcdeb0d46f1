import { Client, credentials, Metadata, status, type ServiceError } from '@grpc/grpc-js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { inferMessage, promptInputs } from '../../helpers/guards/guard-client.ts';
import { loadService } from '../../../src/guard/tensors/service.ts';
import { sharedGuard } from '../../helpers/guards/shared-guard.ts';

const MIB = 1024 * 1024;
const HOUR_MS = 3600_000;

const { server } = await sharedGuard();

/** Sends a message, whatever its bytes, compressed by gzip or not. Returns the gRPC status of the call. */
async function send(message: Buffer, { compressed = false, deadlineMs = HOUR_MS } = {}): Promise<status> {
  const client = new Client(server.address.slice('grpc://'.length), credentials.createInsecure(), {
    'grpc.use_local_subchannel_pool': 1,
    ...(compressed ? { 'grpc.default_compression_algorithm': 2 } : {}),
  });
  onTestFinished(() => client.close());
  const asItIs = (bytes: Buffer): Buffer => bytes;
  const path = '/inference.GRPCInferenceService/ModelInfer';
  const options = { deadline: Date.now() + deadlineMs };
  return new Promise((resolve) => {
    const answered = (error: ServiceError | null) => resolve(error?.code ?? status.OK);
    client.makeUnaryRequest(path, asItIs, asItIs, message, new Metadata(), options, answered);
  });
}

const valid = loadService()['ModelInfer']!.requestSerialize(inferMessage(promptInputs(['hello'])));

describe('a message', () => {
  it('of more than 96 MiB is refused, compressed or not (C-812)', async () => {
    const long = Buffer.alloc(96 * MIB + 1);
    expect(await send(long)).toBe(status.RESOURCE_EXHAUSTED);
    expect(await send(long, { compressed: true })).toBe(status.RESOURCE_EXHAUSTED);
  });

  it('that is malformed is refused, and the next one is served', async () => {
    expect(await send(Buffer.alloc(100, 0xff))).toBe(status.INVALID_ARGUMENT);
    expect(await send(valid)).toBe(status.OK);
  });
});

// gRPC for Python and C++ sends 27000 hours for anything longer: in milliseconds, more than 32 bits.
it.each([27_000, 600])('a deadline of %d hours leaves a call its time', async (hours) => {
  expect(await send(valid, { deadlineMs: hours * HOUR_MS })).toBe(status.OK);
});
