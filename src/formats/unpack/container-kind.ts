import { hasMagicBytes } from '../../domain/magic-bytes.ts';
import type { Container } from './messages.ts';

/**
 * What a file is that holds other files, by its first bytes, inflated if it is compressed as a whole; null for any other.
 * A compressed text is not one: it is read as text.
 */
export function containerKind(head: Buffer, isCompressed: boolean): Container | null {
  if (hasMagicBytes(head, 'tar')) return 'tar';
  if (isCompressed) return null;
  return hasMagicBytes(head, 'zip') ? 'zip' : null;
}
