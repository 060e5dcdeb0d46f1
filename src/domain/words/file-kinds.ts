import type { ItemCode, ItemErrorReason } from '../item-error.ts';
import { ITEM_ADVICE, REASON_ADVICE } from './item-advice.ts';

/** Key for files without an extension, or with an unusual one. */
export const OTHER_FILES = 'other';

/** How to convert files of an unsupported type, by extension. */
export const CONVERSION_ADVICE: readonly (readonly [extensions: readonly string[], help: string])[] = [
  [['ps', 'eps'], 'convert it to text, and its pages to images'],
  [
    ['bmp', 'ico', 'heic', 'heif', 'hif', 'psd', 'jp2', 'jxl', 'avif', 'svg', 'svgz', 'tga', 'dds'],
    'convert it to PNG',
  ],
  [
    ['mp4', 'm4v', 'mov', 'mkv', 'webm', 'avi', 'wmv', 'flv', 'mpg', 'mpeg', '3gp', 'ts', 'fli', 'flc'],
    'convert it to MP4',
  ],
  [['zip', '7z', 'rar', 'tar', 'tgz', 'gz', 'bz2', 'xz', 'zst'], 'unpack it'],
  [['doc', 'rtf', 'ppt'], 'export it as text'],
  [['xls', 'xlsb'], 'export it as CSV'],
  [['msg'], 'export the messages as text or CSV'],
  [['ics', 'vcf'], 'export it as CSV'],
  [['uu', 'uue', 'b64', 'asc', 'pem'], 'decode it'],
  [['txt', 'md'], 'its content is of another type; errors.jsonl says which'],
  [['parquet'], 'it is compressed as a whole, or not a Parquet file: decompress it, or export it again'],
  [['sqlite', 'db'], 'export it as CSV or JSONL'],
  [['xml'], 'export its texts as CSV or JSON Lines'],
];

/** The advice for files of any other type. */
export const OTHER_HELP = 'not a type with content to judge: leave it out, or review it by hand';

/** Returns the extension of a file name, in lower case without its dot; `other` if it has no usual one. */
export function fileExtension(path: string): string {
  return /[^/]\.([a-z0-9]{1,8})$/.exec(path.toLowerCase())?.[1] ?? OTHER_FILES;
}

/** The advice for files with an extension; null for an unknown one. */
export function conversionAdvice(extension: string): string | null {
  return CONVERSION_ADVICE.find(([extensions]) => extensions.includes(extension))?.[1] ?? null;
}

interface ErrorCause {
  readonly code: ItemCode;
  readonly reason?: ItemErrorReason | undefined;
  readonly message: string;
}

/**
 * Advice on an item that was not judged, by its cause; for an unsupported file type, by that type. Null if the message
 * already contains advice after a colon, which depends on the file's content.
 */
export function fileAdvice(path: string, { code, reason, message }: ErrorCause): string | null {
  if (reason !== 'file_type') return (reason === undefined ? ITEM_ADVICE[code] : REASON_ADVICE[reason]).full;
  return message.includes(': ') ? null : (conversionAdvice(fileExtension(path)) ?? OTHER_HELP);
}
