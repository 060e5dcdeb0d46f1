import type { FileHandle } from 'node:fs/promises';
import { readFully } from '../../files/read-fully.ts';
import { openUnnamedFile } from '../../files/unnamed-file.ts';
import { checkEnd, textsAsBytes } from './footer.ts';
import { TableProcess } from './table-process.ts';

/** An open file that was checked, and its size then. */
export interface OpenTable {
  readonly handle: FileHandle;
  readonly bytes: number;
}

/** A file up to this size is copied for a process that is kept, because starting one takes longer. */
const SMALL_BYTES = 8 * 1024 * 1024;
/** How long a process is kept for the next file. */
const KEPT_MS = 2000;
/** What is copied at once. */
const PIECE_BYTES = 1024 * 1024;

/** A process and the file without a name that it reads. */
interface Resident {
  readonly process: TableProcess;
  readonly file: FileHandle;
}

let kept: { readonly resident: Resident; readonly timer: NodeJS.Timeout } | null = null;

/**
 * Lends a process whose descriptor 3 holds the bytes of a file: the descriptor itself, or a copy of it if the file is small
 * or if columns of text are to be read as bytes. Yields it once, and takes it back when returned; it must be idle then.
 * Throws ParquetProblem, and the system's error.
 */
export async function* lentProcess(
  table: OpenTable,
  { textsAreBytes, signal }: { readonly textsAreBytes: boolean; readonly signal: AbortSignal },
): AsyncGenerator<TableProcess, void> {
  await checkEnd(table.handle, table.bytes);
  if (!textsAreBytes && table.bytes > SMALL_BYTES) {
    const process = new TableProcess([table.handle.fd]);
    try {
      yield process;
    } finally {
      await process.kill();
    }
    return;
  }
  const resident = takeKept() ?? (await startResident());
  let isUsable = false;
  try {
    if (textsAreBytes) await copyTextsAsBytes(table, resident.file, signal);
    else await copy(table, resident.file, signal);
    isUsable = true;
    yield resident.process;
  } finally {
    await giveBack(resident, isUsable && table.bytes <= SMALL_BYTES);
  }
}

/** Copies a file so that its columns of texts are columns of bytes. Throws as `lentProcess` does. */
export async function copyTextsAsBytes(table: OpenTable, to: FileHandle, signal: AbortSignal): Promise<void> {
  await copy(table, to, signal);
  for (const { offset, byte } of await textsAsBytes(table.handle, table.bytes)) {
    await to.write(Buffer.of(byte), 0, 1, offset);
  }
}

async function copy({ handle, bytes }: OpenTable, to: FileHandle, signal: AbortSignal): Promise<void> {
  await to.truncate(0);
  const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, bytes));
  for (let at = 0; at < bytes;) {
    signal.throwIfAborted();
    const read = await readFully(handle, piece.subarray(0, Math.min(piece.length, bytes - at)), at);
    if (read.length === 0) return;
    for (let done = 0; done < read.length;) {
      done += (await to.write(read, done, read.length - done, at + done)).bytesWritten;
    }
    at += read.length;
  }
}

async function startResident(): Promise<Resident> {
  const file = await openUnnamedFile();
  try {
    return { process: new TableProcess([file.fd]), file };
  } catch (error) {
    await file.close();
    throw error;
  }
}

function takeKept(): Resident | null {
  if (kept === null) return null;
  const { resident, timer } = kept;
  clearTimeout(timer);
  kept = null;
  return resident;
}

/** Keeps one process for the next file, and ends others. */
async function giveBack(resident: Resident, isUsable: boolean): Promise<void> {
  if (!isUsable || resident.process.hasEnded || kept !== null) return end(resident);
  const timer = setTimeout(() => {
    kept = null;
    void end(resident);
  }, KEPT_MS);
  timer.unref();
  kept = { resident, timer };
}

async function end({ process, file }: Resident): Promise<void> {
  await process.kill();
  await file.close();
}
