import { itemError } from '../domain/item-error.ts';
import type { FailedItem } from '../domain/item.ts';
import type { SourceSnapshot } from '../ingest/sources/sources-file.ts';
import { idOfSource } from '../ingest/sources/file-place.ts';

const BATCH = 1024;

function changedItem(source: SourceSnapshot, seq: number): FailedItem {
  return {
    seq,
    id: `${idOfSource(source)}#seq-${seq}`,
    source: {
      path: source.path,
      row: null,
      line: null,
      sha256: null,
      bytes: null,
      offset: null,
      length: null,
    },
    roles: null,
    part: null,
    turn: null,
    request: null,
    modality: null,
    requestType: null,
    contentSha256: null,
    settled: {
      judgement: null,
      error: itemError('SOURCE_CHANGED', 'the file changed after the run was created'),
    },
  };
}

/**
 * Items that were planned in a file that has changed since, resolved as SOURCE_CHANGED: those with the given seqs, or
 * from `from` up to, not including, `to`, in arrays of bounded length.
 */
export function* changedItems(
  source: SourceSnapshot,
  seqs: readonly number[] | { readonly from: number; readonly to: number },
): Generator<FailedItem[]> {
  const [first, count] = 'from' in seqs ? [seqs.from, seqs.to - seqs.from] : [0, seqs.length];
  for (let at = 0; at < count; at += BATCH) {
    yield Array.from({ length: Math.min(BATCH, count - at) }, (_, index) =>
      changedItem(source, 'from' in seqs ? first + at + index : seqs[at + index]!),
    );
  }
}
