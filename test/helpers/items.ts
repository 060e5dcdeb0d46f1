import { contentSha256 } from '../../src/domain/content-hash.ts';
import { itemError, type ItemCode } from '../../src/domain/item-error.ts';
import type { FailedItem, JudgedItem, ReusedItem } from '../../src/domain/item.ts';
import type { ItemRequest } from '../../src/domain/request.ts';
import { judgement, MODEL } from './moderation.ts';

/** What every item of a row has. */
function rowOf(seq: number, path: string) {
  const source = { path, row: seq + 1, line: seq + 1, sha256: null, bytes: null, offset: null, length: null };
  return { seq, id: `${path}#${seq + 1}`, source, roles: null, turn: null, part: null };
}

/** A prompt that is not asked for. */
const SETTLED = { request: null, requestType: 'prompt', modality: 'text' } as const;

export function promptItem(seq: number, text: string, path = 'corpus.csv'): JudgedItem {
  return judgedItem(seq, { requestType: 'prompt', modality: 'text', text }, path);
}

export function judgedItem(seq: number, request: ItemRequest, path = 'corpus.csv'): JudgedItem {
  return { ...rowOf(seq, path), request, contentSha256: contentSha256(request), settled: null };
}

export function settledItem(seq: number, code: ItemCode, path = 'corpus.csv'): FailedItem {
  const settled = { judgement: null, error: itemError(code, 'made by a test') };
  return { ...rowOf(seq, path), ...SETTLED, contentSha256: null, settled };
}

/** A text whose verdict is known before it is judged. */
export function knownItem(seq: number, score: number, path = 'corpus.csv'): ReusedItem {
  const verdict = { judgement: judgement(score).judgement!, fingerprint: MODEL };
  const settled = { ...verdict, reusedFrom: 'an-earlier-run', snippet: null, error: null };
  return { ...promptItem(seq, `text ${seq}`, path), ...SETTLED, settled };
}
