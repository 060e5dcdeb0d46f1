import { BYTES_PER_SAMPLE, SAMPLE_RATE, WAV_HEADER_BYTES } from '../../domain/normalization.ts';
import { CANARY_PICTURE } from '../../domain/canary/built-in.ts';
import type { AudioRequest, GuardRequest } from '../../domain/request.ts';
import { writeWavHeader } from '../../normalize/audio/window-cutter.ts';
import type { RequestRow, RequestKind } from '../tensors/encode-request.ts';
import { CallError, type Fault, isTimeout, type OutReason } from './call-error.ts';
import type { CallOptions, ReadyGuard } from './connection.ts';

/** A row that is harmless under any policy, and short: it costs the guard almost nothing. */
export const HARMLESS_ROW = {
  request: { requestType: 'prompt', modality: 'text', text: 'The library opens at nine on weekdays.' },
  sessionId: '',
} as const;

/** The shortest harmless generation. */
export const HARMLESS_GENERATION = {
  request: {
    requestType: 'generation',
    modality: 'text',
    prompt: 'When does the library open?',
    chunks: [HARMLESS_ROW.request.text],
    cadenceChunks: 1,
  },
  sessionId: '',
} as const;

/** One second of silence in normalized format, with or without a harmless transcript. */
export function silentClip(described: boolean): AudioRequest {
  const dataBytes = SAMPLE_RATE * BYTES_PER_SAMPLE;
  const audio = Buffer.alloc(WAV_HEADER_BYTES + dataBytes);
  writeWavHeader(audio, dataBytes);
  const transcript = described ? HARMLESS_ROW.request.text : null;
  return { requestType: 'prompt', modality: 'audio', audio, transcript };
}

/** A harmless request of a kind. */
export function harmlessRow(requestKind: RequestKind): RequestRow {
  return { request: harmlessRequest(requestKind), sessionId: '' };
}

function harmlessRequest(requestKind: RequestKind): GuardRequest {
  const { text } = HARMLESS_ROW.request;
  const image = { requestType: 'prompt', modality: 'image', image: CANARY_PICTURE } as const;
  const response = { requestType: 'response', modality: 'text', response: text } as const;
  switch (requestKind) {
    case 'prompt':
      return HARMLESS_ROW.request;
    case 'response':
      return { ...response, prompt: null };
    case 'response-with-prompt':
      return { ...response, prompt: HARMLESS_GENERATION.request.prompt };
    case 'multiturn':
      return {
        requestType: 'multiturn',
        modality: 'text',
        messages: [['user', text]],
        turns: 1,
        conversation: null,
      };
    case 'generation':
      return HARMLESS_GENERATION.request;
    case 'image':
      return { ...image, caption: null };
    case 'image-with-caption':
      return { ...image, caption: text };
    case 'audio':
      return silentClip(false);
    case 'audio-with-transcript':
      return silentClip(true);
  }
}

/**
 * Result for the harmless text.
 * - `shared-failure`: the guard failed on everything in the same execution, which proves something about the guard only
 *   if nothing else was in flight
 * - `reached`: other requests may have been running on the guard when it failed, and one of them may be the cause
 */
export type CanaryResult =
  | { readonly kind: 'judged' }
  | { readonly kind: 'overloaded' | 'shared-failure' }
  | {
      readonly kind: 'failed';
      readonly reason: OutReason;
      readonly fatal: boolean;
      readonly reached: boolean;
    };

type AskedGuard = Pick<ReadyGuard, 'judge' | 'takes'>;

/** The kind of a harmless text: a stream if the guard takes nothing else. */
function kindOfText(guard: AskedGuard): RequestKind {
  return guard.takes('prompt') ? 'prompt' : 'generation';
}

/**
 * Sends the guard a harmless text, to distinguish an item it cannot judge from a guard that judges nothing. Any verdict
 * counts as `judged`. Rejects only when the signal is aborted.
 */
export async function tryHarmlessText(guard: AskedGuard, options: CallOptions): Promise<CanaryResult> {
  return interpret(await harmlessFault(guard, kindOfText(guard), options));
}

/**
 * Scope of a rejection: one `item`; a `kind` of requests, while texts are judged; or everything, as for a harmless
 * text.
 */
export type Barred = { readonly kind: 'item' | 'kind' } | Exclude<CanaryResult, { kind: 'judged' }>;

/**
 * Finds out why a request of a kind was `barred`, using a harmless one and, if needed, a text. Rejects like
 * `tryHarmlessText`.
 */
export async function findBarred(
  guard: AskedGuard,
  requestKind: RequestKind,
  options: CallOptions,
): Promise<Barred> {
  const fault = await harmlessFault(guard, requestKind, options);
  if (fault === null || (fault.kind === 'refused' && fault.named)) return { kind: 'item' };
  const ofKind = requestKind !== kindOfText(guard) && (fault.kind === 'barred' || fault.kind === 'refused');
  const result = ofKind ? await tryHarmlessText(guard, options) : interpret(fault);
  return result.kind === 'judged' ? { kind: 'kind' } : result;
}

/** Fault of a harmless request; null if it was judged. */
async function harmlessFault(
  guard: AskedGuard,
  requestKind: RequestKind,
  options: CallOptions,
): Promise<Fault | null> {
  try {
    const { answers } = await guard.judge([harmlessRow(requestKind)], options);
    return answers?.[0] != null ? null : { kind: 'refused', code: 'INVALID_REPLY', named: false };
  } catch (error) {
    if (error instanceof CallError) return error.fault;
    throw error;
  }
}

function interpret(fault: Fault | null): CanaryResult {
  switch (fault?.kind) {
    case undefined:
      return { kind: 'judged' };
    case 'overload':
    case 'rate':
      return { kind: 'overloaded' };
    case 'execution':
      return { kind: 'shared-failure' };
    case 'endpoint':
      return failed(fault.reason, { reached: fault.reached });
    case 'barred':
      return failed(fault.reason, { fatal: fault.fatal });
    case 'attempt':
      return isTimeout(fault)
        ? failed('no answer in time', { reached: true })
        : failed('fails on harmless text');
    case 'refused':
    case 'too-large':
      return failed('fails on harmless text');
  }
}

function failed(reason: OutReason, { fatal = false, reached = false } = {}): CanaryResult {
  return { kind: 'failed', reason, fatal, reached };
}
