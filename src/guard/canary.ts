import { CallError, type Fault } from './call-error.ts';
import { type CallOptions, type GuardChannel } from './channel.ts';
import { decodeReply } from './tensors/decode-reply.ts';
import { encodeRequest, type TensorLayout } from './tensors/encode-request.ts';

/** Harmless in any policy; short, so that it costs the guard next to nothing. */
const HARMLESS_TEXT = 'The library opens at nine on weekdays.';

/**
 * Has the guard judge a harmless text, to tell an item it cannot judge from a guard that judges nothing. Null when
 * it gave a verdict, whatever the verdict says; else what is wrong.
 */
export async function tryHarmlessText(
  channel: GuardChannel,
  layout: TensorLayout,
  options: CallOptions,
): Promise<Fault | null> {
  const request = { requestType: 'prompt', modality: 'text', text: HARMLESS_TEXT } as const;
  try {
    const reply = await channel.call(
      'ModelInfer',
      encodeRequest([{ request, sessionId: '' }], layout),
      options,
    );
    const answer = decodeReply(reply, 1, layout)?.[0] ?? null;
    return answer === null ? { kind: 'refused', code: 'INVALID_REPLY', named: false } : null;
  } catch (error) {
    if (error instanceof CallError) return error.fault;
    throw error;
  }
}
