import type { OutcomeLine } from '../../domain/outcome.ts';
import type { Policy } from '../../domain/policy.ts';
import { restrictedBy } from '../../domain/restriction/restricted.ts';
import type { Cell } from './csv.ts';

/** The columns of restricted.csv. */
export const RESTRICTED_COLUMNS = [
  'seq',
  'path',
  'row',
  'line',
  'id',
  'part',
  'turn',
  'decision',
  'category',
  'file_sha256',
] as const;

/** The row of a restricted item: where it is, and nothing of what it holds. */
export function restrictedCells(line: OutcomeLine, policy: Policy): Cell[] {
  const { seq, source, id, part, turn, decision } = line;
  const { path, row, line: at, sha256 } = source;
  return [seq, path, row, at, id, part, turn, decision, restrictedBy(policy, line), sha256];
}
