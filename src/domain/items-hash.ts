import { createHash } from 'node:crypto';
import { kindOf, type Item } from './item.ts';
import type { LogLine } from './outcome.ts';
import type { RoleCounts } from './original-role.ts';

/** Text that is passed to the hash at once, in UTF-16 code units. */
const CHUNK_LENGTH = 65_536;

/**
 * Hash of everything recorded about a shard's items except their outcomes, 64 hex digits: SHA-256 over one line per item,
 * a JSON array of seq, id, path, row, line, SHA-256, bytes, offset and length of the source, modality, request type, content hash, error
 * code and message of an item that failed when it was read (otherwise null), the roles as [name, count], sorted by
 * name, then the turn, if it is one, and the part, if it is one. The hash does not depend on whether an item has a settled verdict. `itemsSha256OfLines` returns the same for the
 * outcome lines of the items.
 */
export function itemsSha256(items: readonly Item[]): string {
  return hashed(items, (item) => {
    const { modality, requestType } = kindOf(item);
    const error = item.settled?.error ?? null;
    const { path, row, line, sha256, bytes, offset, length } = item.source;
    return [
      ...[item.seq, item.id, path, row, line, sha256, bytes, offset, length],
      ...[modality, requestType, item.contentSha256],
      ...[error?.code ?? null, error?.message ?? null],
      inOrder(item.roles),
      ...placeIn(item),
    ];
  });
}

/** See `itemsSha256`. An item without a content hash failed when it was read. */
export function itemsSha256OfLines(lines: readonly LogLine[]): string {
  return hashed(lines, (outcome) => {
    const { path, row, line, sha256, bytes, offset, length } = outcome.source;
    const known = outcome.content_sha256 === null && outcome.status === 'error' ? outcome.error : null;
    return [
      ...[outcome.seq, outcome.id, path, row, line, sha256, bytes, offset, length],
      ...[outcome.modality, outcome.request_type, outcome.content_sha256],
      ...[known?.code ?? null, known?.message ?? null],
      inOrder(outcome.roles),
      ...placeIn(outcome),
    ];
  });
}

/** A number and a text, each left out if null. */
function placeIn({ turn, part }: Pick<LogLine, 'turn' | 'part'>): readonly unknown[] {
  return [turn, part].filter((value) => value !== null);
}

function inOrder(roles: RoleCounts | null): readonly unknown[] | null {
  return roles === null ? null : Object.entries(roles).sort(([a], [b]) => (a < b ? -1 : 1));
}

function hashed<T>(values: readonly T[], fieldsOf: (value: T) => readonly unknown[]): string {
  const hash = createHash('sha256');
  let lines = '';
  for (const value of values) {
    lines += `${JSON.stringify(fieldsOf(value))}\n`;
    if (lines.length <= CHUNK_LENGTH) continue;
    hash.update(lines);
    lines = '';
  }
  return hash.update(lines).digest('hex');
}
