import { readSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import * as format from './lmdb-format.ts';
import type { Meta, Node, Tree } from './lmdb-format.ts';

/** Pages that are checked before others get a turn of the event loop. */
const PAGES_PER_TURN = 512;

/** The file is not what the library wrote. */
class Damaged extends Error {
  override readonly name = 'Damaged';
}

/** A page that is still to be checked, with the tree that it belongs to. */
interface Pending {
  readonly page: number;
  readonly depth: number;
  readonly counted: Counted;
}

/** What was found of a tree so far. */
interface Counted {
  readonly kind: 'free list' | 'main' | 'table';
  readonly tree: Tree;
  branchPages: number;
  leafPages: number;
  overflowPages: number;
  entries: number;
}

/**
 * Checks an LMDB file without the library, which maps the file and follows it wherever it leads: that all pages and nodes
 * lie where they can, that each page is used once or free,
 * and that the counts of each table hold.
 * Entries are not checked: each has a check of its own. Memory: a bit per page. Rejects with the signal's reason when
 * aborted.
 */
export async function checkPages(fd: number, signal: AbortSignal): Promise<boolean> {
  try {
    await new PageCheck(fd).run(signal);
    return true;
  } catch (error) {
    if (error instanceof Damaged || error instanceof RangeError) return false;
    throw error;
  }
}

/** The number of the last transaction; null when the file does not begin as the library writes it. */
export function lastTransaction(fd: number): number | null {
  return latestMeta(fd)?.transaction ?? null;
}

function latestMeta(fd: number): Meta | null {
  const first = metaAt(fd, 0);
  const second = first === null ? null : metaAt(fd, first.pageBytes);
  if (first === null || second?.pageBytes !== first.pageBytes) return null;
  return second.transaction > first.transaction ? second : first;
}

function metaAt(fd: number, position: number): Meta | null {
  const page = Buffer.alloc(META_BYTES);
  return readSync(fd, page, 0, META_BYTES, position) < META_BYTES ? null : format.readMeta(page);
}

const META_BYTES = 512;

class PageCheck {
  readonly #fd: number;
  readonly #meta: Meta;
  /** A bit for each page that is used, or free. */
  readonly #used: Uint8Array;
  readonly #pending: Pending[] = [];
  readonly #trees: Counted[] = [];
  /** Ranges of free pages: first and last. */
  readonly #free: [number, number][] = [];

  constructor(fd: number) {
    const meta = latestMeta(fd);
    // No file of ours has more pages; a damaged number must not make us allocate memory for them.
    if (meta === null || meta.lastPage > MAX_PAGES) throw new Damaged();
    this.#fd = fd;
    this.#meta = meta;
    this.#used = new Uint8Array(Math.ceil((meta.lastPage + 1) / 8));
  }

  async run(signal: AbortSignal): Promise<void> {
    const { free, main } = this.#meta;
    this.#enter('free list', free);
    this.#enter('main', main);
    for (let checked = 1; this.#pending.length > 0; checked++) {
      this.#checkPage(this.#pending.pop()!);
      if (checked % PAGES_PER_TURN !== 0) continue;
      await setImmediate();
      signal.throwIfAborted();
    }
    for (const { tree, branchPages, leafPages, overflowPages, entries } of this.#trees) {
      require(tree.branchPages === branchPages && tree.leafPages === leafPages);
      require(tree.overflowPages === overflowPages && tree.entries === entries);
    }
    for (const [first, last] of this.#free) {
      for (let page = first; page <= last; page++) this.#use(page);
    }
  }

  #enter(kind: Counted['kind'], tree: Tree): void {
    const counted = { kind, tree, branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0 };
    this.#trees.push(counted);
    if (tree.root !== null) this.#pending.push({ page: tree.root, depth: 1, counted });
  }

  #checkPage({ page: number, depth, counted }: Pending): void {
    const page = this.#read(number, 1);
    const isLeaf = depth === counted.tree.depth;
    require(page.readUInt16LE(format.PAGE_FLAGS_AT) === (isLeaf ? format.LEAF : format.BRANCH));
    const kind = !isLeaf ? 'branch' : counted.kind === 'free list' ? 'list' : 'leaf';
    const found = format.readNodes(page, kind);
    if (found === null) throw new Damaged();
    if (!isLeaf) {
      counted.branchPages++;
      for (const { below } of found.nodes) this.#pending.push({ page: below, depth: depth + 1, counted });
      return;
    }
    counted.leafPages++;
    counted.entries += found.count;
    for (const node of found.nodes) this.#checkEntry(page, node, counted);
  }

  #checkEntry(page: Buffer, node: Node, counted: Counted): void {
    if (node.flags === format.IS_TABLE) {
      require(counted.kind === 'main' && format.isTableSize(node.bytes));
      this.#enter('table', format.readTree(page, node.valueAt));
      return;
    }
    require(node.flags === 0 || node.flags === format.ON_OVERFLOW);
    const value =
      node.flags === 0
        ? page.subarray(node.valueAt, node.valueAt + node.bytes)
        : this.#overflowValue(format.wordAt(page, node.valueAt), node.bytes, counted);
    if (counted.kind === 'free list') this.#addFree(value);
  }

  #overflowValue(number: number, bytes: number, counted: Counted): Buffer {
    require(bytes <= MAX_VALUE_BYTES);
    const pages = Math.ceil((format.HEADER_BYTES + bytes) / this.#meta.pageBytes);
    const read = this.#read(number, pages);
    require(read.readUInt16LE(format.PAGE_FLAGS_AT) === format.OVERFLOW);
    require(read.readUInt32LE(format.OVERFLOW_PAGES_AT) === pages);
    counted.overflowPages += pages;
    return read.subarray(format.HEADER_BYTES, format.HEADER_BYTES + bytes);
  }

  /** A list of free pages: its length, then page numbers; a negative number is the length of the range that follows it. */
  #addFree(value: Buffer): void {
    const count = format.wordAt(value, 0);
    require(value.length % 8 === 0 && 8 * count < value.length);
    for (let at = 1; at <= count; at++) {
      const entry = Number(value.readBigInt64LE(8 * at));
      if (entry === 0) continue;
      require(entry > 0 || at < count);
      const first = entry > 0 ? entry : format.wordAt(value, 8 * ++at);
      const last = entry > 0 ? entry : first - entry - 1;
      require(first >= FIRST_PAGE && last <= this.#meta.lastPage);
      this.#free.push([first, last]);
    }
  }

  /** Reads pages that nothing else uses. */
  #read(number: number, pages: number): Buffer {
    const { pageBytes, lastPage } = this.#meta;
    require(number >= FIRST_PAGE && number + pages - 1 <= lastPage);
    const bytes = Buffer.allocUnsafe(pages * pageBytes);
    require(readSync(this.#fd, bytes, 0, bytes.length, number * pageBytes) === bytes.length);
    require(format.wordAt(bytes, 0) === number);
    for (let page = number; page < number + pages; page++) this.#use(page);
    return bytes;
  }

  #use(page: number): void {
    const bit = 1 << (page & 7);
    require((this.#used[page >> 3]! & bit) === 0);
    this.#used[page >> 3]! |= bit;
  }
}

/** Pages 0 and 1 are the meta pages. */
const FIRST_PAGE = 2;
/** 64 GiB in pages of 4 KiB. */
const MAX_PAGES = 2 ** 24;

/** The largest value is a list of the pages that one transaction freed. */
const MAX_VALUE_BYTES = 64 * 1024 * 1024;

function require(holds: boolean): void {
  if (!holds) throw new Damaged();
}
