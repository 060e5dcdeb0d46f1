import type { Modality } from '../../domain/request.ts';
import { isEncodedText } from '../../formats/encoding/encoded-text.ts';
import { mailForm } from './mail-head.ts';
import { layoutByName } from './recognise-layout.ts';

/** A text that is not plain: its words are mixed with tags or headers, folded, or encoded. */
interface MarkupKind {
  /** For messages, with an article where one is needed. */
  readonly name: string;
  /** How to convert it into a file that is judged. */
  readonly help: string;
  readonly modality: Modality | null;
}

/** Max bytes of a file that are examined. */
const EXAMINED_BYTES = 64 * 1024;

const TO_TEXT_AND_IMAGES = 'convert it to text, and its pages to images';
const HTML = kind('a web page (HTML)', 'save it as plain text');
const SVG = kind('a drawing (SVG)', 'convert it to PNG', 'image');
const PDF = kind('a PDF document', TO_TEXT_AND_IMAGES);
const POSTSCRIPT = kind('a PostScript document', TO_TEXT_AND_IMAGES);
const RTF = kind('a rich text document (RTF)', 'export it as text');
const CALENDAR = kind('a calendar (iCalendar)', 'export it as CSV');
const CONTACTS = kind('contacts (vCard)', 'export them as CSV');
const ENCODED = kind('encoded data', 'decode it');
const MAIL = kind('an e-mail', 'export the messages as text or CSV');
const MAILBOX = kind('a mailbox (mbox)', 'export the messages as text or CSV');
const WEB_ARCHIVE = kind('a web archive (MHTML)', 'save it as plain text');

function kind(name: string, help: string, modality: Modality | null = null): MarkupKind {
  return { name, help, modality };
}

const HTML_NAMES = /\.(?:s?html?|xht(?:ml)?)(?:\.gz)?$/i;
const PDF_NAMES = /\.pdf(?:\.gz)?$/i;
/** Elements that an HTML page begins with, but a Markdown text does not. */
const PAGE_ELEMENT = /^<(?:html|head|body|title|meta|link|base|script|style|frameset)[\s/>]/i;
/** A tag, or a character reference. */
const ANY_MARKUP = /<\/?[a-z][a-z0-9]{0,15}[\s/>]|&(?:#x[\da-f]{1,6}|#\d{1,7}|[a-z][a-z\d]{1,31});/i;

/**
 * The kind of a text that is not plain, by its UTF-8 head; null for plain text. A text that only mentions tags, headers
 * or signatures is plain: each kind requires structure after its first bytes. Only an HTML fragment, which has none, is
 * recognised by its name. Examines each character a bounded number of times.
 */
export function markupKind(head: Buffer, isComplete: boolean, path: string): MarkupKind | null {
  const text = head.toString('latin1', 0, EXAMINED_BYTES);
  const isAll = isComplete && head.length <= EXAMINED_BYTES;
  const element = afterProlog(text);
  if (/^<!doctype\s+html[\s>]/i.test(element.doctype) || PAGE_ELEMENT.test(element.text)) return HTML;
  if (/^<(?:\w{1,32}:)?svg[\s/>]/i.test(element.text)) return SVG;
  if (HTML_NAMES.test(path) && ANY_MARKUP.test(text)) return HTML;
  const start = text.trimStart();
  if (/^\{\\rtf[0-9\\{\s]/.test(start)) return RTF;
  if (/^BEGIN:VCALENDAR\s*[\r\n]/i.test(start)) return CALENDAR;
  if (/^BEGIN:VCARD\s*[\r\n]/i.test(start)) return CONTACTS;
  if (isPdf(text, path)) return PDF;
  if (isPostScript(text)) return POSTSCRIPT;
  const mail = mailForm(start, path);
  if (mail !== null) return { message: MAIL, mailbox: MAILBOX, archive: WEB_ARCHIVE }[mail];
  // Among records, each encoded one is an error of its own.
  const part = (layoutByName(path) ?? 'text') === 'text' ? 'most' : 'all';
  return isEncodedText(start, { isAll, part }) ? ENCODED : null;
}

/** The first element after the XML or HTML prolog, and the document type declared in the prolog. */
function afterProlog(text: string): { readonly doctype: string; readonly text: string } {
  let at = 0;
  let doctype = '';
  for (;;) {
    at += /^\s*/.exec(text.slice(at, at + EXAMINED_BYTES))![0].length;
    const end = endOfProlog(text, at);
    if (end === null) return { doctype, text: text.slice(at, at + 100) };
    if (text.startsWith('<!d', at) || text.startsWith('<!D', at)) doctype = text.slice(at, at + 100);
    at = end;
  }
}

/** End of the comment, processing instruction or document type at `at`; null if there is none or it does not end. */
function endOfProlog(text: string, at: number): number | null {
  const behind = (mark: string, from: number): number | null => {
    const found = text.indexOf(mark, from);
    return found < 0 ? null : found + mark.length;
  };
  if (text.startsWith('<!--', at)) return behind('-->', at + 4);
  if (text.startsWith('<?', at)) return behind('?>', at + 2);
  if (!/^<!doctype\s/i.test(text.slice(at, at + 10))) return null;
  const end = behind('>', at);
  if (end === null || !text.slice(at, end).includes('[')) return end;
  const closed = behind(']', at);
  return closed === null ? null : behind('>', closed);
}

/** A PDF may be pure ASCII: it is recognised by an object, by its cross-reference table, or by its name. */
function isPdf(text: string, path: string): boolean {
  if (!/^%PDF-[0-9]\.[0-9]\s/.test(text)) return false;
  return PDF_NAMES.test(path) || /\s\d{1,10} \d{1,5} obj\b|\bstartxref\s/.test(text);
}

/** By structuring comments (DSC) or operators. */
function isPostScript(text: string): boolean {
  if (!/^%!/.test(text)) return false;
  return (
    /^%!PS-Adobe-[0-9]\.[0-9][^\r\n]*[\r\n]+%/.test(text) ||
    (/^%!(?:PS)?[ \t]*[\r\n]/.test(text) && /\b(?:moveto|showpage|findfont|setrgbcolor|newpath)\b/.test(text))
  );
}
