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
const ENCODED = /^content-transfer-encoding:\s{0,8}(?:base64|quoted-printable)\s/im;
/** A line in front of a header, and empty lines behind it. */
const FOREWORD = /^[^\r\n]{1,1000}(?:\r?\n){1,8}/;

/** Max lines of a header that are examined. */
const MAX_LINES = 500;

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
  const isMail = certain > 0 && (common + certain >= 3 || ENCODED.test(text));
  if (!isMail && !(isNamed && (certain > 0 || common >= 2))) return null;
  return /^content-type:\s{0,8}multipart\/related/im.test(text) ? 'archive' : 'message';
}

/** The distinct field names of the header that a text begins with, in lower case; none if any line is not a field. */
function headerFields(text: string): string[] {
  const names = new Set<string>();
  let at = 0;
  for (let lines = 0; lines < MAX_LINES && at < text.length; lines++) {
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
