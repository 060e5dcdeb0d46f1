import { randomBytes } from 'node:crypto';
import type { HttpBody } from './http-client.ts';

/** What normal form or an original may begin with: extension, media type, where, and the bytes there. */
const SIGNATURES: readonly (readonly [extension: string, type: string, at: number, bytes: string])[] = [
  ['png', 'image/png', 0, '\x89PNG\r\n\x1a\n'],
  ['jpg', 'image/jpeg', 0, '\xff\xd8\xff'],
  ['gif', 'image/gif', 0, 'GIF8'],
  ['webp', 'image/webp', 8, 'WEBP'],
  ['tiff', 'image/tiff', 0, 'II*\0'],
  ['tiff', 'image/tiff', 0, 'MM\0*'],
  ['wav', 'audio/wav', 8, 'WAVE'],
  ['flac', 'audio/flac', 0, 'fLaC'],
  ['ogg', 'audio/ogg', 0, 'OggS'],
  ['mp3', 'audio/mpeg', 0, 'ID3'],
  ['m4a', 'audio/mp4', 4, 'ftyp'],
];

/**
 * A form (RFC 7578) with one file in the field `file`. The file's name is made from what its bytes are, since guards
 * may go by the extension; the user's own name for it stays here.
 */
export function fileForm(bytes: Buffer): HttpBody {
  const head = bytes.toString('latin1', 0, 16);
  const found = SIGNATURES.find(([, , at, magic]) => head.startsWith(magic, at));
  const [extension, type] = found ?? ['bin', 'application/octet-stream'];
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
