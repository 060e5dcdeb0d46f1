/** Last words, in the singular, of names under which JSON records keep what people wrote or said. */
const TEXT_WORDS: ReadonlySet<string> = new Set([
  ...[
    'text',
    'content',
    'body',
    'message',
    'msg',
    'comment',
    'prompt',
    'utterance',
    'reply',
    'post',
    'tweet',
  ],
  ...['title', 'subject', 'headline', 'description', 'caption', 'summary', 'note', 'remark', 'bio', 'quote'],
  ...['question', 'answer', 'query', 'instruction', 'response', 'completion', 'transcript', 'sentence'],
  ...['paragraph', 'passage', 'story', 'review', 'feedback', 'dialog', 'dialogue', 'lyric', 'joke', 'essay'],
]);

const ID_WORDS: ReadonlySet<string> = new Set(['id', 'uuid', 'guid', 'key', 'hash', 'sha']);

/** Names are foreign: of a longer one, its end is looked at. */
const NAME_CHARS = 64;

/** Whether a name says that it holds text: `text`, `comments`, `full_text`, `reviewBody`. */
export function isTextName(name: string): boolean {
  const word = lastWord(name);
  return TEXT_WORDS.has(word) || TEXT_WORDS.has(word.replace(/ies$/, 'y').replace(/s$/, ''));
}

/** Whether a name says that it holds ids: `dialogue_id`, `threadKey`. */
export function isIdName(name: string): boolean {
  const word = lastWord(name);
  return ID_WORDS.has(word) || ID_WORDS.has(word.replace(/s$/, ''));
}

function lastWord(name: string): string {
  const spaced = name.slice(-NAME_CHARS).replace(/([a-z\d])([A-Z])/g, '$1 $2');
  return (
    spaced
      .match(/\p{L}+/gu)
      ?.at(-1)
      ?.toLowerCase() ?? ''
  );
}

const MAX_ID = 512;

/** Whether a text is an id, an address or a time rather than words: one token of such characters, with a digit or a mark. */
export function looksLikeId(text: string): boolean {
  const token = text.length <= MAX_ID ? text.trim() : '';
  return /^[\w.:/+=@#?&%~-]+$/.test(token) && /\d|_|:\/\//.test(token);
}

const REFERENCES: readonly RegExp[] = [
  /^[a-z][a-z\d+.-]*:\/\/\S+$/i, // an address
  /^\d[\d\s.:,/+-]*(?:T[\d.:]+)?(?:Z|[+-]\d\d:?\d\d)?$/, // a date or a time
  /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i, // a UUID
  /^(?=.*\d)[\da-f]{32,}$/i, // a hash
];

/** Whether a text is an address, a time, a UUID or a hash by its form, which words do not have. */
export function isReference(text: string): boolean {
  const token = text.length <= MAX_ID ? text.trim() : '';
  return REFERENCES.some((form) => form.test(token));
}

/** Text is told by its beginning. */
const LOOKED_AT = 1024;
const ONE_TOKEN = /^[!-~]*$/;
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu;

/** Whether a text has so many words; in scripts that put no spaces between words, two letters count as one. */
export function hasWords(text: string, count: number): boolean {
  const start = text.length > LOOKED_AT ? text.slice(0, LOOKED_AT) : text;
  if (ONE_TOKEN.test(start)) return count === 1 && /[a-z]/i.test(start);
  let words = 0;
  for (const token of start.split(/\s+/)) if (/\p{L}/u.test(token) && ++words >= count) return true;
  return (start.match(UNSPACED)?.length ?? 0) >= 2 * count;
}

const MIN_ENCODED = 256;

/** Whether a text is bytes written as base64 or hex: long, and without any white space. */
export function looksEncoded(text: string): boolean {
  if (text.length < MIN_ENCODED) return false;
  return /^(?:data:[\w/+.;=-]{0,100},)?[A-Za-z0-9+/_-]+={0,2}$/.test(text);
}
