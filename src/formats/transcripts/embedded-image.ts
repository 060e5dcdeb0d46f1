import { itemError, type ItemError } from '../../domain/item-error.ts';

/** Where parts of messages have their image, in the forms of OpenAI, Anthropic, Google and Hugging Face. */
const PLACES: readonly (readonly string[])[] = [
  ['image_url', 'url'],
  ['image_url'],
  ['source', 'data'],
  ['source', 'url'],
  ['inline_data', 'data'],
  ['inlineData', 'data'],
  ['image', 'url'],
  ['image', 'bytes'],
  ['image'],
  ['url'],
  ['data'],
];

const ABSENT = itemError('UNSUPPORTED_TYPE', 'the image of a message is not in its record');
const REMOTE = itemError('UNSUPPORTED_TYPE', 'the image is at an address, and nothing is fetched from there');
const DAMAGED = itemError('CORRUPT_MEDIA', 'the image in the record is not valid base64');

/** The bytes of the image that a part of a message holds. What is elsewhere is not fetched. */
export function imageOf(part: object): Buffer | ItemError {
  const place = imagePlace(part);
  return place === null ? ABSENT : imageFrom(place.text);
}

/** Where a part of a message has its image: the object and the name in it. */
export function imagePlace(
  part: object,
): { readonly holder: object; readonly name: string; readonly text: string } | null {
  for (const place of PLACES) {
    const name = place.at(-1)!;
    const holder = place.slice(0, -1).reduce<unknown>((value, each) => member(value, each), part);
    const text = member(holder, name);
    if (typeof text === 'string' && text !== '') return { holder: holder as object, name, text };
  }
  return null;
}

/** Whether a text is a `data:` URL of an image (RFC 2397). */
export function isImageUrl(text: string): boolean {
  return /^data:image\//i.test(text);
}

/** The bytes that a `data:` URL or a base64 text stands for. */
export function imageFrom(text: string): Buffer | ItemError {
  if (/^data:/i.test(text)) {
    const comma = text.indexOf(',');
    return /;base64$/i.test(text.slice(0, Math.max(comma, 0)).trim())
      ? decoded(text.slice(comma + 1))
      : DAMAGED;
  }
  if (/^[a-z][a-z0-9+.-]{1,20}:/i.test(text)) return REMOTE;
  return text.length < MIN_BASE64 ? ABSENT : decoded(text);
}

/** A shorter text is the name of a file: no image is so small. */
const MIN_BASE64 = 64;

function decoded(base64: string): Buffer | ItemError {
  const text = /\s/.test(base64) ? base64.replace(/\s+/g, '') : base64;
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text)) return DAMAGED;
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === 0 ? DAMAGED : bytes;
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}
