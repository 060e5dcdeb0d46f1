import { itemError, type ItemError } from '../../domain/item-error.ts';
import type { Attachment, AttachmentKind } from './content.ts';
import { type Draft, nestInPart, formatPart } from './draft.ts';

const NOT_JUDGED = {
  audio: itemError('UNSUPPORTED_TYPE', 'audio in a message is not judged by this version'),
  file: itemError('UNSUPPORTED_TYPE', 'a file in a message is not judged by this version'),
} as const;

/**
 * Makes one item per attachment, numbered from 1 within its kind. The part of a single attachment has no number. Only
 * images whose bytes are in the record are judged.
 */
export function draftAttachments(attachments: readonly Attachment[], suffix: string): Draft[] {
  const total: Record<AttachmentKind, number> = { image: 0, audio: 0, file: 0 };
  for (const { kind } of attachments) total[kind]++;
  const counts: Record<AttachmentKind, number> = { image: 0, audio: 0, file: 0 };
  return attachments.map(({ kind, part }): Draft => {
    const number = ++counts[kind];
    const name = total[kind] === 1 ? kind : formatPart(kind, number);
    return nestInPart(name, createAttachmentDraft(`${suffix}#${kind}${number}`, kind, part));
  });
}

function createAttachmentDraft(suffix: string, kind: AttachmentKind, part: object): Draft {
  if (kind === 'image') return createImageDraft(suffix, readImage(part));
  const modality = kind === 'file' ? null : kind;
  return { suffix, request: null, modality, requestType: null, error: NOT_JUDGED[kind] };
}

/** Makes the item of an image, or a failed one if its bytes are missing. */
export function createImageDraft(suffix: string, image: ReturnType<typeof readImage>): Draft {
  if ('code' in image) {
    return { suffix, request: null, modality: 'image', requestType: 'prompt', error: image };
  }
  const request = { requestType: 'prompt', modality: 'image', embedded: image, caption: null } as const;
  return { suffix, request, error: null };
}

/** Paths of the image in a message part, in the formats of OpenAI, Anthropic, Google and Hugging Face. */
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

const ABSENT = itemError('UNSUPPORTED_TYPE', 'the image of a message is not in the record');
const REMOTE = itemError('UNSUPPORTED_TYPE', 'the image is a URL, and URLs are not fetched');
const DAMAGED = itemError('CORRUPT_MEDIA', 'the image in the record is not valid base64');

/** Reads the image in a message part. Images stored elsewhere are not fetched. */
function readImage(part: object): Buffer | ItemError {
  const place = findImage(part);
  return place === null ? ABSENT : decodeImage(place.text);
}

/** Finds the image in a message part, as a URL or base64. */
export function findImage(
  part: object,
): { readonly holder: object; readonly name: string; readonly text: string } | null {
  for (const place of PLACES) {
    const name = place.at(-1)!;
    const holder = place.slice(0, -1).reduce<unknown>((value, each) => readMember(value, each), part);
    const text = readMember(holder, name);
    if (typeof text === 'string' && text !== '') return { holder: holder as object, name, text };
  }
  return null;
}

/** Whether a string is a `data:` URL of an image (RFC 2397). */
export function isImageUrl(text: string): boolean {
  return /^data:image\//i.test(text);
}

/** Decodes a `data:` URL or base64. */
export function decodeImage(text: string): Buffer | ItemError {
  if (/^data:/i.test(text)) {
    const comma = text.indexOf(',');
    return /;base64$/i.test(text.slice(0, Math.max(comma, 0)).trim())
      ? decodeBase64(text.slice(comma + 1))
      : DAMAGED;
  }
  if (/^[a-z][a-z0-9+.-]{1,20}:/i.test(text)) return REMOTE;
  return text.length < MIN_BASE64 ? ABSENT : decodeBase64(text);
}

/** A shorter string is a file name, because no image is this small. */
const MIN_BASE64 = 64;

function decodeBase64(base64: string): Buffer | ItemError {
  const text = /\s/.test(base64) ? base64.replace(/\s+/g, '') : base64;
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text)) return DAMAGED;
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === 0 ? DAMAGED : bytes;
}

function readMember(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}
