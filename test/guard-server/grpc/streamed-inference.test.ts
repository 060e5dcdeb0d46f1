import { once } from 'node:events';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import { afterAll, describe, expect, it } from 'vitest';
import { encodeStreamRequest } from '../../../src/guard/tensors/stream/stream-tensors.ts';
import { inferMessage, promptInputs } from '../../helpers/guards/guard-client.ts';
import { message } from '../../helpers/guards/moderation-streams.ts';
import { StreamConnection, type StreamReply } from '../../helpers/guards/stream-client.ts';
import { sharedGuard } from '../../helpers/guards/shared-guard.ts';

const { server } = await sharedGuard();
const connection = new StreamConnection(server.address);
afterAll(() => connection.close());

/** Collects the replies of a call until it ends. */
async function repliesOf(call: ClientDuplexStream<object, StreamReply>): Promise<StreamReply[]> {
  const replies: StreamReply[] = [];
  call.on('data', (reply: StreamReply) => replies.push(reply));
  await once(call, 'end');
  return replies;
}

function request(id: string, text: string): object {
  const parameters = { triton_enable_empty_final_response: { bool_param: true } };
  return { ...inferMessage(promptInputs([text])), id, parameters };
}

describe('streamed inference', () => {
  it('answers in the order of the requests, errors included, and ends with the client', async () => {
    const call = connection.call();
    const replies = repliesOf(call);
    for (let id = 0; id < 600; id++) call.write(request(String(id), id % 7 === 3 ? ' ' : `text ${id}`));
    call.end();
    const got = await replies;
    expect(got.map(({ infer_response }) => Number(infer_response.id))).toEqual([...Array(600).keys()]);
    for (const [id, { error_message, infer_response }] of got.entries()) {
      if (id % 7 === 3) {
        expect(error_message).toContain('EMPTY_CONTENT');
        expect(infer_response.outputs).toEqual([]);
      } else {
        expect(error_message).toBe('');
        expect(infer_response.outputs.map(({ name }) => name)).toContain('SCORE');
        expect(infer_response.parameters).toMatchObject({ triton_final_response: { bool_param: true } });
      }
    }
  });

  it('takes no message of a moderation stream', async () => {
    const call = connection.call();
    const replies = repliesOf(call);
    call.write(request('first', 'a text'));
    call.write(encodeStreamRequest(message({ seq: 1, prompt: 'p', chunk: 'c' }), { batched: true }));
    call.write(request('last', 'a text'));
    call.end();
    expect((await replies).map(({ error_message }) => error_message !== '')).toEqual([false, true, false]);
  });
});
