import { createHash } from 'node:crypto';
import type { ItemError } from './item-error.ts';
import { itemKind, type Item } from './item.ts';
import type { OutcomeLine } from './outcome.ts';
import type { RoleCounts } from './request.ts';

/** Length of text passed to the hash at once, in UTF-16 code units. */
const CHUNK_LENGTH = 65_536;

/**
 * Hashes everything recorded about a shard's items except their outcomes, as 64 hex digits. The SHA-256 is over one
 * line per item, a JSON array of seq, id, path, row, line, SHA-256, bytes, offset and length of the source, modality,
 * request type, content hash, error code and message of an item that failed when it was read (otherwise null), the
 * roles as [name, count], sorted by name, then the turn, if it is one, and the part, if it is one. The hash does not
 * depend on whether an item has a settled verdict. `itemsSha256OfLines` returns the same for the outcome lines of the
 * items.
 */
export function itemsSha256(items: readonly Item[]): string {
  return hashFields(items, (item) => {
    const { modality, requestType } = itemKind(item);
    return fieldsOf(item, modality, requestType, item.contentSha256, item.settled?.error ?? null);
  });
}

/** Like `itemsSha256`, for outcome lines. An item without a content hash failed when it was read. */
export function itemsSha256OfLines(lines: readonly OutcomeLine[]): string {
  return hashFields(lines, (outcome) => {
    const known = outcome.content_sha256 === null && outcome.status === 'error' ? outcome.error : null;
    return fieldsOf(outcome, outcome.modality, outcome.request_type, outcome.content_sha256, known);
  });
}

/** The turn (a number) and the part (a string) are each omitted if null. Hot path: one array for each item. */
function fieldsOf(
  {
    seq,
    id,
    source,
    roles,
    turn,
    part,
  }: Pick<OutcomeLine, 'seq' | 'id' | 'source' | 'roles' | 'turn' | 'part'>,
  modality: OutcomeLine['modality'],
  requestType: OutcomeLine['request_type'],
  content: string | null,
  error: Pick<ItemError, 'code' | 'message'> | null,
): readonly unknown[] {
  const { path, row, line, sha256, bytes, offset, length } = source;
  // prettier-ignore
  const fields: unknown[] = [
    seq, id, path, row, line, sha256, bytes, offset, length,
    modality, requestType, content, error?.code ?? null, error?.message ?? null, inOrder(roles),
  ];
  if (turn !== null) fields.push(turn);
  if (part !== null) fields.push(part);
  return fields;
}

function inOrder(roles: RoleCounts | null): readonly unknown[] | null {
  return roles === null ? null : Object.entries(roles).sort(([a], [b]) => (a < b ? -1 : 1));
}

function hashFields<T>(values: readonly T[], fieldsIn: (value: T) => readonly unknown[]): string {
  const hash = createHash('sha256');
  let lines = '';
  for (const value of values) {
    lines += `${JSON.stringify(fieldsIn(value))}\n`;
    if (lines.length <= CHUNK_LENGTH) continue;
    hash.update(lines);
    lines = '';
  }
  return hash.update(lines).digest('hex');
}
