import type { StreamRequest } from '../../src/guard/tensors/stream/stream-messages.ts';
import type { Random } from '../../training/random.ts';
import type { Generation } from './generations.ts';
import { chunkMessage } from './stream-client.ts';
import { between } from './texts.ts';

/** A client's actions on a stream, and the required end of the stream. */
export interface Script {
  /** Description for reports. */
  readonly kind: string;
  readonly messages: readonly (StreamRequest | 'nonsense')[];
  /** `leave` at once; or, after the final verdict, close properly or send this message; null to wait for the end. */
  readonly then: 'leave' | 'end' | StreamRequest | null;
  readonly status: string;
  /** Must occur in the text of the error. */
  readonly text: string;
  /** Whether there is a final verdict. */
  readonly isComplete: boolean;
}

/** More tokens than fit in the context window of the embedded guard. */
const OVERFLOW_CHARACTERS = 40_000;

export function goodStream(generation: Generation): Script {
  const messages = messagesOf(generation);
  return { kind: 'generation', messages, then: 'end', status: 'OK', text: '', isComplete: true };
}

/** Replays a generation with a fault, of a kind in BAD_STREAMS given by its index. */
export function badStream(random: Random, generation: Generation, kind: number): Script {
  const messages = messagesOf(generation);
  // The fault comes after some of the chunks.
  const head = messages.slice(0, between(random, 1, generation.chunks.length));
  return FAULTS[kind]!(messages, head);
}

type Fault = (all: readonly StreamRequest[], head: readonly StreamRequest[]) => Script;

const FAULTS: readonly Fault[] = [
  (_, head) => invalid('duplicate seq', [...head, chunkMessage(head.length - 1, 'again')], 'seq'),
  (_, head) => invalid('lower seq', [...head, chunkMessage(0, 'again')], 'seq'),
  (_, head) =>
    invalid('empty chunk', [...head, { ...chunkMessage(head.length, ''), endOfStream: false }], 'empty'),
  (_, head) => invalid('malformed message', [...head, 'nonsense'], ''),
  (_, head) =>
    invalid('other prompt', [...head, { ...chunkMessage(head.length, 'more'), prompt: 'other' }], 'prompt'),
  (all) => invalid('missing prompt', [{ ...all[0]!, prompt: null }], 'prompt'),
  (all) => invalid('blank prompt', [{ ...all[0]!, prompt: ' ' }], 'prompt'),
  (all) =>
    invalid('overflow', [{ ...all[0]!, prompt: 'x'.repeat(OVERFLOW_CHARACTERS) }], 'SEQUENCE_OVERFLOW'),
  (all) => inconsistent('end before content', [{ ...all[0]!, chunk: null, endOfStream: true }], null),
  (all) => inconsistent('message after the final verdict', all, chunkMessage(all.length, 'more')),
  (_, head) => ({
    ...{ kind: 'client leaves', messages: head, then: 'leave', isComplete: false },
    ...{ status: LEFT, text: '' },
  }),
];

/** Status of a stream that its client leaves. */
export const LEFT = 'left';

/** All kinds of bad streams. */
export const BAD_STREAMS: readonly string[] = FAULTS.map((fault) => {
  const messages = messagesOf({ prompt: 'p', chunks: ['c'], cadence: { unit: 'chunks', every: 1 } });
  return fault(messages, messages).kind;
});

function invalid(kind: string, messages: Script['messages'], text: string): Script {
  return { kind, messages, then: null, status: 'INVALID_ARGUMENT', text, isComplete: false };
}

function inconsistent(kind: string, messages: Script['messages'], then: StreamRequest | null): Script {
  return { kind, messages, then, status: 'FAILED_PRECONDITION', text: '', isComplete: then !== null };
}

function messagesOf({ prompt, chunks, cadence }: Generation): [StreamRequest, ...StreamRequest[]] {
  const [first, ...rest] = chunks.map((chunk, seq) => chunkMessage(seq, chunk));
  return [{ ...first!, prompt, cadence }, ...rest, chunkMessage(chunks.length, null)];
}
