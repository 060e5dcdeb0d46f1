import { itemError } from '../domain/item-error.ts';
import type { SettledItem } from '../domain/item.ts';
import type { FrozenSource } from '../ingest/plan/plan-line.ts';

const BATCH = 1024;

function changedItem(source: FrozenSource, seq: number): SettledItem {
  return {
    seq,
    id: `${source.path}#seq-${seq}`,
    source: { path: source.path, row: null, line: null, sha256: null, bytes: null },
    roles: null,
    request: null,
    modality: null,
    requestType: null,
    contentSha256: null,
    error: itemError('SOURCE_CHANGED', 'the file changed after the run was created'),
  };
}

/**
 * The outcomes of items that were planned in a file that has changed since, for the given seqs or those from `from`
 * up to but not including `to`, in arrays of bounded length.
 */
export function* changedItems(
  source: FrozenSource,
  seqs: readonly number[] | { readonly from: number; readonly to: number },
): Generator<SettledItem[]> {
  const [first, count] = 'from' in seqs ? [seqs.from, seqs.to - seqs.from] : [0, seqs.length];
  for (let at = 0; at < count; at += BATCH) {
    yield Array.from({ length: Math.min(BATCH, count - at) }, (_, index) =>
      changedItem(source, 'from' in seqs ? first + at + index : seqs[at + index]!),
    );
  }
}
