import type { FileHandle } from 'node:fs/promises';
import { systemPath } from '../../../domain/file-path.ts';
import { beginsWith } from '../../../domain/magic-bytes.ts';
import { openFile } from '../../../files/open-file.ts';
import { readFully } from '../../../files/read-fully.ts';
import { binaryKind } from '../../recognise/binary-kind.ts';

/**
 * Files that systems and programs leave behind. Any file can have such a name, so a file is skipped only if its structure
 * also matches the name, and if it would not be judged under another name either.
 */

/** Reads up to `length` bytes at a position. */
type ReadAt = (position: number, length: number) => Promise<Buffer>;

interface Leftover {
  readonly names: RegExp;
  /** Default: true. Then a file that is text, or media that are judged, is none. */
  readonly isBinary?: boolean;
  readonly fits: (head: Buffer, size: number, readAt: ReadAt) => boolean | Promise<boolean>;
}

const LEFTOVERS: readonly Leftover[] = [
  { names: /^~\$/, fits: isOwnerFile },
  { names: /^\.DS_Store$/, fits: isFinderFile },
  { names: /^Thumbs\.db$/i, fits: isThumbnailCache },
  { names: /^desktop\.ini$/i, isBinary: false, fits: isFolderSettings },
  { names: /^\._/, fits: isAppleDouble },
];

const HEAD_BYTES = 64 * 1024;

/** Whether a file is a leftover, by its name and its content. False if it cannot be read. */
export async function isLeftover(name: string, path: string): Promise<boolean> {
  const leftover = LEFTOVERS.find(({ names }) => names.test(name));
  if (leftover === undefined) return false;
  let handle: FileHandle | null = null;
  try {
    handle = await openFile(systemPath(path), 'refuse');
    const { size } = await handle.stat();
    if (size === 0) return true;
    const readAt = reader(handle);
    const head = await readAt(0, HEAD_BYTES);
    if (leftover.isBinary !== false && binaryKind(head, '', null)?.isJudged !== false) return false;
    return await leftover.fits(head, size, readAt);
  } catch {
    return false;
  } finally {
    await handle?.close();
  }
}

function reader(handle: FileHandle): ReadAt {
  return (position, length) => readFully(handle, Buffer.alloc(length), position);
}

/** Size of an owner file to the max length of the user's name: Word; Excel and PowerPoint. */
const OWNER_NAME_CHARACTERS: ReadonlyMap<number, number> = new Map([
  [162, 53],
  [165, 54],
]);

/**
 * The lock file that Office creates next to an open document: the user's name twice, in the system's code page and in
 * UTF-16, each preceded by its length and padded to a fixed width with zeros or spaces.
 */
function isOwnerFile(head: Buffer, size: number): boolean {
  const maxLength = OWNER_NAME_CHARACTERS.get(size);
  if (maxLength === undefined || head.length !== size) return false;
  const wide = 1 + maxLength;
  const length = head[0]!;
  const wideLength = head.readUInt16LE(wide);
  if (length === 0 || length > maxLength || wideLength === 0 || wideLength > maxLength) return false;
  const isPadding = (byte: number): boolean => byte === 0 || byte === 0x20;
  return (
    head.subarray(1 + length, wide).every(isPadding) &&
    head.subarray(wide + 2 + 2 * wideLength).every(isPadding)
  );
}

/**
 * The Finder's settings of a folder: `Bud1`, then the offset of the root block (twice, around its size). Offsets are
 * relative to byte 4 of the file. https://metacpan.org/dist/Mac-Finder-DSStore/view/DSStoreFormat.pod
 */
function isFinderFile(head: Buffer, size: number): boolean {
  if (head.length < 20 || !beginsWith(head, 'dsStore')) return false;
  const offset = head.readUInt32BE(8);
  return head.readUInt32BE(16) === offset && 4 + offset + head.readUInt32BE(12) <= size;
}

const DIRECTORY_ENTRY_BYTES = 128;
const UNUSED = 0;
const STREAM = 2;
const ROOT = 5;

/**
 * The Explorer's thumbnails: a compound file ([MS-CFB]). The first sector of its directory lists only streams with names
 * of thumbnails.
 */
async function isThumbnailCache(head: Buffer, _size: number, readAt: ReadAt): Promise<boolean> {
  if (head.length < 512 || !beginsWith(head, 'compoundFile')) return false;
  const sectorBytes = { 9: 512, 12: 4096 }[head.readUInt16LE(30)];
  if (sectorBytes === undefined) return false;
  const directory = await readAt((head.readUInt32LE(48) + 1) * sectorBytes, sectorBytes);
  if (directory.length !== sectorBytes) return false;
  let streams = 0;
  for (let at = 0; at < sectorBytes; at += DIRECTORY_ENTRY_BYTES) {
    const type = directory[at + 66];
    if (type === UNUSED || (type === ROOT && at === 0)) continue;
    const nameBytes = Math.max(0, Math.min(64, directory.readUInt16LE(at + 64)) - 2);
    const name = directory.toString('utf16le', at, at + nameBytes);
    if (type !== STREAM || !/^(?:Catalog|\d{1,10}|\d{1,5}_[0-9a-f]{1,16})$/i.test(name)) return false;
    streams++;
  }
  return streams > 0;
}

/** Larger settings are not ours to know: those of a real folder are a few lines. */
const MAX_SETTINGS_BYTES = 4096;
const SETTINGS_SECTION =
  /^\[(?:\.ShellClassInfo|ViewState|LocalizedFileNames|DeleteOnCopy|ExtShellFolderViews|\{[\dA-F-]{36}\})\]$/i;
/** Settings whose values are a single word or number, and files with the resource that names them or their icon. */
const SETTING =
  /^(?:LocalizedResourceName|IconResource|IconFile|IconIndex|IconArea_\w{1,32}|Logo|Mode|Vid|FolderType|Owner|Personalized(?:Name)?|NoSharing|ConfirmFileOp|CLSID2?|UICLSID|Default|Attributes|InfoTip|[\w.() -]{1,80}\.(?:lnk|url|library-ms))=(?:\S{0,80}|@?(?:%\w{1,32}%|[A-Z]:)\\[\w\\.() -]{1,200}\.(?:dll|exe|ico|icl|cpl|ocx)(?:,-?\d{1,9})?)$/i;

/** The Explorer's settings of a folder: nothing but sections and settings that it knows, none of them of several words. */
function isFolderSettings(head: Buffer, size: number): boolean {
  if (size > MAX_SETTINGS_BYTES) return false;
  const isWide = head[0] === 0xff && head[1] === 0xfe;
  const lines = (isWide ? head.toString('utf16le', 2) : head.toString('latin1')).split(/\r?\n/);
  const written = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith(';'));
  return (
    SETTINGS_SECTION.test(written[0] ?? '') &&
    written.every((line) => SETTINGS_SECTION.test(line) || SETTING.test(line))
  );
}

const APPLE_DOUBLE_ENTRY_BYTES = 12;
/** Kinds of entries in an AppleDouble file (RFC 1740, Appendix B): all but 1, the data of the file itself. */
const MAX_ENTRY_KIND = 15;
const RESOURCE_FORK = 2;
/** Resources of an older file may hold its text. */
const MAX_RESOURCE_BYTES = 64 * 1024;

/**
 * What macOS keeps of a file on a volume that cannot: magic number and version, then entries that lie within the file, for
 * the Finder and for attributes (RFC 1740, Appendix A).
 */
function isAppleDouble(head: Buffer, size: number): boolean {
  if (head.length < 26 || !beginsWith(head, 'appleDouble')) return false;
  const entries = head.readUInt16BE(24);
  const end = 26 + entries * APPLE_DOUBLE_ENTRY_BYTES;
  if (entries === 0 || end > head.length) return false;
  for (let at = 26; at < end; at += APPLE_DOUBLE_ENTRY_BYTES) {
    const kind = head.readUInt32BE(at);
    const bytes = head.readUInt32BE(at + 8);
    if (kind < RESOURCE_FORK || kind > MAX_ENTRY_KIND || head.readUInt32BE(at + 4) + bytes > size)
      return false;
    if (kind === RESOURCE_FORK && bytes > MAX_RESOURCE_BYTES) return false;
  }
  return true;
}
