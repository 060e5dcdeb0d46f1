import type { Modality } from '../../domain/request.ts';
import { isEncodedText } from '../../formats/encoding/encoded-text.ts';
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

const MAIL_NAMES = /\.(?:eml|emlx|mht|mhtml|mbox)(?:\.gz)?$/i;

/** Header fields that people also write above a memo (RFC 5322). */
const COMMON_FIELDS: ReadonlySet<string> = new Set(['from', 'to', 'cc', 'subject', 'date', 'reply-to']);
/** Header fields that only mail programs write. */
const MAIL_FIELDS: ReadonlySet<string> = new Set([
  'content-transfer-encoding',
  'delivered-to',
  'dkim-signature',
  'message-id',
  'mime-version',
  'received',
  'return-path',
]);

/** First line of an mbox file (RFC 4155): sender and delivery date. */
const POSTMARK = /^From \S{1,320} [^\r\n]{0,40}\d{2}:\d{2}[^\r\n]{0,40}\r?\n/;
const FIELD = /^([A-Za-z][A-Za-z0-9-]{0,76})[ \t]{0,8}:/;

/** A transfer encoding that changes the text (RFC 2045). */
const ENCODED_TRANSFER = /^content-transfer-encoding:\s{0,8}(?:base64|quoted-printable)\s/im;
/** A line in front of a header, and empty lines behind it. */
const FOREWORD = /^[^\r\n]{1,1000}(?:\r?\n){1,8}/;

/** Max lines of a header that are examined. */
const MAX_HEADER_LINES = 500;

/** The form of a text that begins with a mail header. */
type MailForm = 'message' | 'mailbox' | 'archive';

/**
 * The form of a text that begins with a mail header, possibly behind one line of other words; null for other texts. Mail
 * folds and encodes its text (RFC 2045, 2047) and contains attachments. A memo that begins with `From:` and `Subject:`
 * counts as mail only if its file name does.
 */
export function mailForm(text: string, path: string): MailForm | null {
  return formOf(text, MAIL_NAMES.test(path)) ?? formOf(text.replace(FOREWORD, ''), false);
}

function formOf(text: string, isNamed: boolean): MailForm | null {
  const postmark = POSTMARK.exec(text)?.[0].length ?? 0;
  const fields = headerFields(text.slice(postmark));
  const common = fields.filter((name) => COMMON_FIELDS.has(name)).length;
  const certain = fields.filter((name) => MAIL_FIELDS.has(name)).length;
  if (postmark > 0 && common + certain > 0) return 'mailbox';
  const isMail = certain > 0 && (common + certain >= 3 || ENCODED_TRANSFER.test(text));
  if (!isMail && !(isNamed && (certain > 0 || common >= 2))) return null;
  return /^content-type:\s{0,8}multipart\/related/im.test(text) ? 'archive' : 'message';
}

/** The distinct field names of the header that a text begins with, in lower case; none if any line is not a field. */
function headerFields(text: string): string[] {
  const names = new Set<string>();
  let at = 0;
  for (let lines = 0; lines < MAX_HEADER_LINES && at < text.length; lines++) {
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? text.length : newline;
    if (end === at || (end === at + 1 && text[at] === '\r')) break;
    const isFolded = lines > 0 && (text[at] === ' ' || text[at] === '\t');
    if (!isFolded) {
      const name = FIELD.exec(text.slice(at, Math.min(end, at + 100)))?.[1];
      if (name === undefined) return newline < 0 ? [...names] : [];
      names.add(name.toLowerCase());
    }
    at = end + 1;
  }
  return [...names];
}
