import { contentSha256 } from '../../src/domain/content-hash.ts';
import { itemError, type ItemCode } from '../../src/domain/item-error.ts';
import type { JudgedItem, SettledItem } from '../../src/domain/item.ts';
import type { ItemRequest } from '../../src/domain/request.ts';

const source = (path: string, row: number | null) => ({ path, row, line: row, sha256: null, bytes: null });

export function promptItem(seq: number, text: string, path = 'corpus.csv'): JudgedItem {
  return judgedItem(seq, { requestType: 'prompt', modality: 'text', text }, path);
}

export function judgedItem(seq: number, request: ItemRequest, path = 'corpus.csv'): JudgedItem {
  return {
    seq,
    id: `${path}#${seq + 1}`,
    source: source(path, seq + 1),
    roles: null,
    request,
    contentSha256: contentSha256(request),
    error: null,
  };
}

export function settledItem(seq: number, code: ItemCode, path = 'corpus.csv'): SettledItem {
  return {
    seq,
    id: `${path}#${seq + 1}`,
    source: source(path, seq + 1),
    roles: null,
    request: null,
    modality: 'text',
    requestType: 'prompt',
    contentSha256: null,
    error: itemError(code, 'made by a test'),
  };
}
