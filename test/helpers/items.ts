import { contentSha256 } from '../../src/domain/content-hash.ts';
import { itemError, type ItemCode } from '../../src/domain/item-error.ts';
import type { FailedItem, JudgedItem, ReusedItem } from '../../src/domain/item.ts';
import type { ItemRequest } from '../../src/domain/request.ts';
import { judgement, MODEL } from './moderation.ts';

/** What every item of a row has. */
const rowOf = (seq: number, path: string) => ({
  ...{ seq, id: `${path}#${seq + 1}`, roles: null, turn: null, part: null },
  source: { path, row: seq + 1, line: seq + 1, sha256: null, bytes: null, offset: null, length: null },
});

export function promptItem(seq: number, text: string, path = 'corpus.csv'): JudgedItem {
  return judgedItem(seq, { requestType: 'prompt', modality: 'text', text }, path);
}

export function judgedItem(seq: number, request: ItemRequest, path = 'corpus.csv'): JudgedItem {
  return { ...rowOf(seq, path), request, contentSha256: contentSha256(request), settled: null };
}

export function settledItem(seq: number, code: ItemCode, path = 'corpus.csv'): FailedItem {
  return {
    ...rowOf(seq, path),
    ...{ request: null, modality: 'text', requestType: 'prompt', contentSha256: null },
    settled: { judgement: null, error: itemError(code, 'made by a test') },
  };
}

/** A text whose verdict is known before it is judged. */
export function knownItem(seq: number, score: number, path = 'corpus.csv'): ReusedItem {
  const { contentSha256: hash } = promptItem(seq, `text ${seq}`, path);
  return {
    ...rowOf(seq, path),
    ...{ request: null, requestType: 'prompt', modality: 'text', contentSha256: hash },
    settled: {
      ...{ judgement: judgement(score).judgement!, fingerprint: MODEL },
      ...{ reusedFrom: 'an-earlier-run', snippet: null, error: null },
    },
  };
}
