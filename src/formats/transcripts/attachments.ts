import { itemError } from '../../domain/item-error.ts';
import type { Attachment, AttachmentKind } from './content.ts';
import { inPart, numberedPart, type Draft } from './draft.ts';
import { imageOf } from './embedded-image.ts';

const NOT_JUDGED = {
  audio: itemError('UNSUPPORTED_TYPE', 'audio in a message is not judged by this version'),
  file: itemError('UNSUPPORTED_TYPE', 'a file in a message is not judged by this version'),
} as const;

/** One item per attachment, numbered from 1 within its kind; its part has no number if it is the only one. Only images whose bytes are in the record are judged. */
export function attachmentDrafts(attachments: readonly Attachment[], suffix: string): Draft[] {
  const total: Record<AttachmentKind, number> = { image: 0, audio: 0, file: 0 };
  for (const { kind } of attachments) total[kind]++;
  const counts: Record<AttachmentKind, number> = { image: 0, audio: 0, file: 0 };
  return attachments.map(({ kind, part }): Draft => {
    const number = ++counts[kind];
    const name = total[kind] === 1 ? kind : numberedPart(kind, number);
    return inPart(name, attachmentDraft(`${suffix}#${kind}${number}`, kind, part));
  });
}

function attachmentDraft(suffix: string, kind: AttachmentKind, part: object): Draft {
  if (kind === 'image') return imageDraft(suffix, imageOf(part));
  const modality = kind === 'file' ? null : kind;
  return { suffix, request: null, modality, requestType: null, error: NOT_JUDGED[kind] };
}

/** The item of an image, or of the error why its bytes are missing. */
export function imageDraft(suffix: string, image: ReturnType<typeof imageOf>): Draft {
  if ('code' in image) {
    return { suffix, request: null, modality: 'image', requestType: 'prompt', error: image };
  }
  const request = { requestType: 'prompt', modality: 'image', embedded: image, caption: null } as const;
  return { suffix, request, error: null };
}
