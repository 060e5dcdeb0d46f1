import { findByMagicBytes, type Magic } from '../../domain/magic-bytes.ts';
import { binaryKind } from '../binary-kind.ts';

/** Kinds of files that contain others, or text to be rendered. */
export const CONTAINERS = ['zip', 'tar', 'gzip', 'pdf', 'html', 'svg', 'mail', 'mbox'] as const;
export type Container = (typeof CONTAINERS)[number];

const BINARY: readonly (readonly [magic: Magic, container: Container])[] = [
  ['tar', 'tar'],
  ['zip', 'zip'],
  ['pdf', 'pdf'],
];

/** Kinds whose files are text, detected by extension or by the first non-blank characters. */
const TEXTUAL: readonly (readonly [container: Container, extension: RegExp, start: RegExp])[] = [
  ['svg', /^svgz?$/, /^(?:<[?!][^>]*>\s*)*<svg\b/i],
  ['pdf', /^pdf$/, /^%PDF-\d/],
  [
    'html',
    /^(?:s?html?|xht(?:ml)?)$/,
    /^(?:<(?:\?xml|!--)[^>]*>\s*)*<(?:!doctype html|html|head|body|title|meta|script|style)\b/i,
  ],
  ['mbox', /^mbox$/, /^From \S+ [^\r\n:]*\d\d:\d\d/],
  [
    'mail',
    /^(?:emlx?|mht(?:ml)?)$/,
    // Fields that only mail programs write, which may follow fields that people also write above a memo.
    /^(?:From: <Saved by |(?:return-path|received|mime-version|message-id|content-transfer-encoding):|[a-z-]+:.*\n(?:(?!\r?\n).*\n)*?(?:mime-version|message-id):)/i,
  ],
];

/** Maximum bytes of a textual file that are examined. */
const EXAMINED_BYTES = 64 * 1024;

/**
 * Detects the kind of container from a file's first bytes, inflated if it is compressed as a whole; null for any other
 * file. A compressed container is `gzip`, unless its compression is handled together with it (tar). Compressed text is
 * not a container.
 */
export function containerKind(
  head: Buffer,
  { isCompressed, name }: { readonly isCompressed: boolean; readonly name: string },
): Container | null {
  const found = findByMagicBytes(head, BINARY) ?? textualKind(head, name);
  return isCompressed && found !== null && found !== 'tar' ? 'gzip' : found;
}

function textualKind(head: Buffer, name: string): Container | null {
  const extension = /\.([a-z]{1,5})(?:\.gz)?$/.exec(name.toLowerCase())?.[1] ?? '';
  const text = head
    .toString('latin1', 0, EXAMINED_BYTES)
    .replace(/^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)/, '')
    .replaceAll('\0', '')
    .trimStart();
  if (text === '') return null;
  const found = TEXTUAL.find(([, names, start]) => names.test(extension) || start.test(text));
  // An image is never a textual container, whatever its name.
  return found === undefined || binaryKind(head, name, null) !== null ? null : found[0];
}
