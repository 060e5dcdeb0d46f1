import { extname } from 'node:path';
import type { FrozenSource } from '../ingest/plan/plan-line.ts';
import { redrawn, RESAMPLES } from './statistics.ts';
import { ItemTally } from './tally.ts';

/** Part of a file: how many items are in how many bytes, as stored. */
interface Piece {
  readonly items: number;
  readonly bytes: number;
}

/** A file that was looked into. */
export interface ReadFile {
  readonly source: FrozenSource;
  readonly seen: ItemTally;
  /** Whether its items are records. */
  readonly hasRecords: boolean;
  /** Part of the file that was read, above 0. */
  readonly share: number;
  /** What was read of it, in order. */
  readonly pieces: readonly Piece[];
  /** One of the largest: it stands for itself, the others stand for those that were not looked into. */
  readonly isLargest: boolean;
}

const MAX_PIECES = 256;
/** Files are read in chunks, so the items of less than this say nothing. */
const MIN_PIECE_BYTES = 128 * 1024;

/** Collects the pieces of a file, at most `MAX_PIECES`. */
export class PieceTally {
  pieces: Piece[] = [];
  #readTo = 0;
  #items = 0;

  /** Takes some items that end at byte `readTo` of the file. */
  add(items: number, readTo: number): void {
    this.#items += items;
    if (readTo - this.#readTo < MIN_PIECE_BYTES) return;
    this.pieces.push({ items: this.#items, bytes: readTo - this.#readTo });
    this.#items = 0;
    this.#readTo = readTo;
    if (this.pieces.length < 2 * MAX_PIECES) return;
    this.pieces = this.pieces.flatMap((piece, at) => {
      const next = this.pieces[at + 1];
      if (at % 2 === 1 || next === undefined) return [];
      return [{ items: piece.items + next.items, bytes: piece.bytes + next.bytes }];
    });
  }
}

/** Files of one extension that were not looked into, and those that stand for them. */
interface Unread {
  readonly alike: readonly ReadFile[];
  readonly files: number;
  readonly bytes: number;
}

/**
 * Files that were read to their ends are counted. The rest of a file is taken to be as its beginning. A file that was not
 * looked into is taken to be as the others with its extension, or else as all: tables byte for byte, other files one for one.
 */
export function predict(sources: readonly FrozenSource[], files: readonly ReadFile[]): ItemTally {
  const predicted = new ItemTally();
  for (const { seen, share } of files) predicted.addScaled(seen, 1 / share);
  for (const rest of unreadOf(sources, files)) {
    const factor = factorOf(rest, rest.alike);
    for (const { seen, share } of rest.alike) predicted.addScaled(seen, factor / share);
  }
  return predicted;
}

/**
 * The total of `predict` for each of `RESAMPLES` resamples (bootstrap): of the files that stand for others, and of the
 * pieces of files that were read in part.
 */
export function resampled(
  sources: readonly FrozenSource[],
  files: readonly ReadFile[],
  random: () => number,
): number[] {
  const unread = unreadOf(sources, files);
  return Array.from({ length: RESAMPLES }, () => {
    const totals = new Map(files.map((file) => [file, redrawnTotal(file, random)]));
    let total = 0;
    for (const itself of totals.values()) total += itself;
    for (const rest of unread) {
      const drawn = redrawn(rest.alike, random);
      const factor = factorOf(rest, drawn);
      for (const file of drawn) total += factor * totals.get(file)!;
    }
    return total;
  });
}

/** Items of a file; what was not read of it is as a resample of its pieces. */
function redrawnTotal({ source, seen, share, pieces }: ReadFile, random: () => number): number {
  if (share === 1) return seen.total;
  let [items, bytes] = [0, 0];
  for (const piece of redrawn(pieces, random)) {
    items += piece.items;
    bytes += piece.bytes;
  }
  return seen.total + (bytes === 0 ? 0 : (items / bytes) * source.bytes * (1 - share));
}

function unreadOf(sources: readonly FrozenSource[], files: readonly ReadFile[]): Unread[] {
  const groups = new Map<string, ReadFile[]>();
  for (const file of files) {
    if (file.isLargest) continue;
    const key = extensionOf(file.source);
    groups.set(key, [...(groups.get(key) ?? []), file]);
  }
  const read = new Set(files.map(({ source }) => source.source));
  const unread = new Map<string, Unread>();
  for (const source of sources) {
    if (read.has(source.source)) continue;
    const key = extensionOf(source);
    const before = unread.get(key) ?? {
      alike: groups.get(key) ?? [...groups.values()].flat(),
      files: 0,
      bytes: 0,
    };
    unread.set(key, { ...before, files: before.files + 1, bytes: before.bytes + source.bytes });
  }
  return [...unread.values()];
}

/** How often the items of `alike` are in the files that were not looked into. */
function factorOf({ files, bytes }: Unread, alike: readonly ReadFile[]): number {
  const read = alike.reduce((sum, { source }) => sum + source.bytes, 0);
  const byBytes = alike.some(({ hasRecords }) => hasRecords) && read > 0;
  return byBytes ? bytes / read : files / alike.length;
}

function extensionOf({ absolute }: FrozenSource): string {
  return extname(absolute).toLowerCase();
}
