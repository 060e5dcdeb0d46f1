import { BYTES_PER_SAMPLE, SAMPLE_RATE, WAV_HEADER_BYTES } from '../../domain/normalization.ts';
import type { AudioRequest } from '../../domain/request.ts';
import { writeWavHeader } from '../../normalize/audio/wav.ts';
import { CallError, type Fault, isTimeout, type OutReason } from './call-error.ts';
import type { CallOptions, ReadyGuard } from './connection.ts';

/** Harmless under any policy, and short, so that it costs the guard almost nothing. */
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

/** One second of silence in normal form, with a harmless transcript or without. */
export function silentClip(described: boolean): AudioRequest {
  const dataBytes = SAMPLE_RATE * BYTES_PER_SAMPLE;
  const audio = Buffer.alloc(WAV_HEADER_BYTES + dataBytes);
  writeWavHeader(audio, dataBytes);
  const transcript = described ? HARMLESS_ROW.request.text : null;
  return { requestType: 'prompt', modality: 'audio', audio, transcript };
}

/**
 * Result for the harmless text. `shared-failure`: the guard failed on everything in the same execution, which proves
 * something about the guard only if nothing else was in flight. `reached`: other requests may have been running on the
 * guard when it failed, and one of them may be the cause.
 */
export type CanaryResult =
  | { readonly kind: 'judged' | 'overloaded' | 'shared-failure' }
  | {
      readonly kind: 'failed';
      readonly reason: OutReason;
      readonly fatal: boolean;
      readonly reached: boolean;
    };

/**
 * Sends the guard a harmless text, as a stream to a guard that takes nothing else, to tell apart an item it cannot judge and a guard that judges nothing. Any verdict
 * counts as `judged`. Rejects only when the signal is aborted.
 */
export async function tryHarmlessText(
  guard: Pick<ReadyGuard, 'judge' | 'takes'>,
  options: CallOptions,
): Promise<CanaryResult> {
  try {
    const row = guard.takes('prompt') ? HARMLESS_ROW : HARMLESS_GENERATION;
    const { answers } = await guard.judge([row], options);
    return answers?.[0] != null ? { kind: 'judged' } : failed('fails on harmless text');
  } catch (error) {
    if (error instanceof CallError) return interpret(error.fault);
    throw error;
  }
}

function interpret(fault: Fault): CanaryResult {
  switch (fault.kind) {
    case 'overload':
    case 'rate':
      return { kind: 'overloaded' };
    case 'execution':
      return { kind: 'shared-failure' };
    case 'endpoint':
      return failed(fault.reason, { reached: fault.reached });
    case 'fatal':
      return failed(fault.reason, { fatal: true });
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
