import { conversionAdvice } from '../../domain/words/file-kinds.ts';
import { isEncodedText } from '../../formats/encoding/encoded-text.ts';
import { layoutByName } from './recognise-layout.ts';

/**
 * A kind of file whose words are encoded, or mixed with tags or headers: judged as plain text, it would give a wrong
 * verdict.
 */
interface MarkupKind {
  /** Name for messages, with an article if one is needed. */
  readonly name: string;
  /** How to convert it to a file that is judged. */
  readonly help: string;
}

/** Max bytes of a file to examine. */
const EXAMINED_BYTES = 64 * 1024;

/** The first kind that matches the file's extension or its first non-blank characters applies. */
const KINDS: readonly (readonly [kind: MarkupKind, extension: RegExp, start: RegExp])[] = [
  [kind('an XML document', 'xml'), /^xml$/, /^<\?xml\s/],
  [kind('a rich text document (RTF)', 'rtf'), /^rtf$/, /^\{\\rtf/],
  [kind('a PostScript document', 'ps'), /^e?ps$/, /^%!PS-Adobe-\d/],
  [kind('a calendar (iCalendar)', 'ics'), /^ics$/, /^BEGIN:VCALENDAR\s*[\r\n]/i],
  [kind('contacts (vCard)', 'vcf'), /^vcf$/, /^BEGIN:VCARD\s*[\r\n]/i],
];

const ENCODED = kind('encoded data', 'pem');

/** `extension` is one with the advice for this kind. */
function kind(name: string, extension: string): MarkupKind {
  return { name, help: conversionAdvice(extension)! };
}

/** Detects markup and encoded text by the file's name and its UTF-8 head; null for plain or empty text. */
export function markupKind(head: Buffer, isComplete: boolean, path: string): MarkupKind | null {
  const text = head.toString('latin1', 0, EXAMINED_BYTES).trimStart();
  if (text === '') return null;
  const extension = /\.([a-z]{1,5})(?:\.gz)?$/.exec(path.toLowerCase())?.[1] ?? '';
  const found = KINDS.find(([, names, start]) => names.test(extension) || start.test(text));
  if (found !== undefined) return found[0];
  const isAll = isComplete && head.length <= EXAMINED_BYTES;
  // Each encoded record is an error of its own.
  const part = (layoutByName(path) ?? 'text') === 'text' ? 'most' : 'all';
  return isEncodedText(text, { isAll, part }) ? ENCODED : null;
}
