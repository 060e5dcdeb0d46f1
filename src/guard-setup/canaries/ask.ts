import { setTimeout as sleep } from 'node:timers/promises';
import type { CanaryAnswer } from '../../domain/canary/canary-check.ts';
import type { ItemCode } from '../../domain/item-error.ts';
import { retryMs } from '../../flow/backoff.ts';
import type { Answer } from '../../guard/protocol/answer.ts';
import { CallError, type Fault, isTimeout } from '../../guard/protocol/call-error.ts';
import type { CallOptions, CheckedGuard } from '../../guard/protocol/connection.ts';
import { findBarred } from '../../guard/protocol/canary.ts';
import { notUsable } from '../../guard/protocol/not-usable.ts';
import { requestKindOf, type RequestRow } from '../../guard/tensors/encode-request.ts';
import type { Canary } from './canary-set.ts';

/** Max attempts with a guard that is too busy to answer. */
const MAX_ATTEMPTS = 3;

/** Prompt of a canary that is sent as a generation. */
const PROMPT = 'What do you say?';

/**
 * Sends a canary to a guard. Rejects with `NotUsable` when it does not answer, and with the signal's reason. A refusal
 * of the content is an answer.
 */
export async function askCanary(
  guard: CheckedGuard,
  canary: Canary,
  options: CallOptions,
): Promise<CanaryAnswer> {
  const row = rowOf(canary, guard);
  if (row === null) return withoutVerdict(canary, 'PROBE_NOT_LOADED');
  for (let attempt = 1; ; attempt++) {
    try {
      const { answers } = await guard.judge([row], options);
      const answer = answers?.[0] ?? null;
      return answer === null ? withoutVerdict(canary, 'INVALID_REPLY') : verdict(canary, answer);
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      const { fault } = error;
      if (fault.kind === 'refused') return withoutVerdict(canary, fault.code);
      if (fault.kind === 'too-large') return withoutVerdict(canary, 'ITEM_TOO_LARGE');
      if (fault.kind === 'barred') {
        const { kind } = await findBarred(guard, requestKindOf(row.request), options);
        if (kind === 'item') return withoutVerdict(canary, 'GUARD_REJECTED');
        if (kind === 'kind') return withoutVerdict(canary, 'PROBE_NOT_LOADED');
      }
      if (!mayPass(fault) || attempt === MAX_ATTEMPTS) throw notUsable(error, options);
    }
    await sleep(retryMs(attempt), undefined, { signal: options.signal });
  }
}

/** The request for a canary; null if the guard does not support such requests. */
function rowOf({ request }: Canary, guard: CheckedGuard): RequestRow | null {
  if (guard.takes(requestKindOf(request))) return { request, sessionId: '' };
  if (request.modality !== 'text' || !guard.takes('generation')) return null;
  const chunks = [request.text];
  return {
    request: { requestType: 'generation', modality: 'text', prompt: PROMPT, chunks, cadenceChunks: 1 },
    sessionId: '',
  };
}

/** Whether a fault is worth another attempt. A timeout is not: a guard that hangs costs one deadline. */
function mayPass(fault: Fault): boolean {
  const { kind } = fault;
  if (kind === 'attempt') return !isTimeout(fault);
  return kind === 'overload' || kind === 'rate' || kind === 'execution';
}

function withoutVerdict({ name, expected }: Canary, error: ItemCode): CanaryAnswer {
  const passed = error === 'PROBE_NOT_LOADED' ? null : false;
  return { name, expected, score: null, flagged: null, passed, error };
}

function verdict(canary: Canary, { score, flagged, subcategoryFlags }: Answer): CanaryAnswer {
  const { name, expected, category, minScore, maxScore } = canary;
  const passed =
    flagged === (expected === 'flagged') &&
    score >= minScore &&
    score <= maxScore &&
    (category === null || (subcategoryFlags ?? []).includes(category));
  return { name, expected, score, flagged, passed, error: null };
}
