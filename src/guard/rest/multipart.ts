import { randomBytes } from 'node:crypto';
import { findByMagicBytes, type Magic } from '../../domain/magic-bytes.ts';
import type { HttpBody } from '../http/http-client.ts';

interface FileType {
  readonly extension: string;
  readonly type: string;
}

/** File types of the normalized format, and of originals. */
const BY_MAGIC_BYTES: readonly (readonly [magic: Magic, type: FileType])[] = [
  ['png', { extension: 'png', type: 'image/png' }],
  ['jpeg', { extension: 'jpg', type: 'image/jpeg' }],
  ['gif', { extension: 'gif', type: 'image/gif' }],
  ['webp', { extension: 'webp', type: 'image/webp' }],
  ['tiff', { extension: 'tiff', type: 'image/tiff' }],
  ['wave', { extension: 'wav', type: 'audio/wav' }],
  ['flac', { extension: 'flac', type: 'audio/flac' }],
  ['ogg', { extension: 'ogg', type: 'audio/ogg' }],
  ['id3', { extension: 'mp3', type: 'audio/mpeg' }],
  ['isoMedia', { extension: 'm4a', type: 'audio/mp4' }],
];

const UNKNOWN: FileType = { extension: 'bin', type: 'application/octet-stream' };

/** The media type of an image or an audio clip, by its first bytes. */
export function mediaType(bytes: Buffer): string {
  return (findByMagicBytes(bytes, BY_MAGIC_BYTES) ?? UNKNOWN).type;
}

/**
 * Builds a multipart/form-data body (RFC 7578) with one file in the field `file`. Its file name comes from the magic
 * bytes, since guards may go by the extension. The user's file name is never sent.
 */
export function fileForm(bytes: Buffer): HttpBody {
  const { extension, type } = findByMagicBytes(bytes, BY_MAGIC_BYTES) ?? UNKNOWN;
  const boundary = `guardsweep-${randomBytes(18).toString('hex')}`;
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    chunks: [
      Buffer.from(
        `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="item.${extension}"\r\n` +
          `Content-Type: ${type}\r\n\r\n`,
      ),
      bytes,
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ],
  };
}
