import type { FastifyRequest } from 'fastify';
import { isBlank } from '../../formats/transcripts/draft.ts';
import { ApiError } from '../api/errors.ts';
import { formErrorOf } from '../api/foreign-errors.ts';
import { mediaForm } from '../api/schemas.ts';
import { FORM_LIMITS } from '../limits.ts';
import type { Upload, Uploads } from './uploads.ts';

interface MediaForm {
  readonly file: Upload;
  /** Caption of an image or transcript of an audio clip; null if missing or blank. */
  readonly caption: string | null;
}

/**
 * Reads a form with one file and optionally one text, in any order. Unknown parts are rejected: content that is not
 * judged must not seem judged. Rejects with an ApiError.
 */
export async function readMediaForm(
  request: FastifyRequest,
  uploads: Uploads,
  signal: AbortSignal,
): Promise<MediaForm> {
  const parts: { file?: Upload; text?: unknown } = {};
  try {
    for await (const part of request.parts({ limits: FORM_LIMITS })) {
      if (part.type === 'file') {
        if (part.fieldname !== 'file' || parts.file !== undefined) throw UNKNOWN_FIELD;
        parts.file = await uploads.receive(part.file, signal);
        if (part.file.truncated) throw FILE_TOO_LARGE;
      } else {
        if (part.fieldname === 'file') throw NO_FILE;
        if (part.fieldname !== 'text' || 'text' in parts) throw UNKNOWN_FIELD;
        if (part.valueTruncated) throw TEXT_TOO_LARGE;
        parts.text = part.value;
      }
    }
    const form = mediaForm.safeParse(parts);
    if (!form.success) throw parts.file === undefined ? MISSING_FILE : NOT_TEXT;
    const { file, text = '' } = form.data;
    return { file, caption: isBlank(text) ? null : text };
  } catch (error) {
    await parts.file?.discard();
    signal.throwIfAborted();
    throw formErrorOf(error);
  }
}

const UNKNOWN_FIELD = new ApiError('INVALID_REQUEST', 'the form may have one field file and one field text');
const NO_FILE = new ApiError('INVALID_REQUEST', 'the field file is not sent as a file: it has no file name');
const NOT_TEXT = new ApiError('INVALID_REQUEST', 'the field text is not plain text');
const MISSING_FILE = new ApiError('MISSING_PAYLOAD', 'the form has no field file');
const FILE_TOO_LARGE = new ApiError(
  'MEDIA_TOO_LARGE',
  `the file has more than ${FORM_LIMITS.fileSize} bytes`,
);
const TEXT_TOO_LARGE = new ApiError(
  'ITEM_TOO_LARGE',
  `the field text has more than ${FORM_LIMITS.fieldSize} bytes`,
);
