/**
 * The parts of LMDB's file format that a check reads, as the library `lmdb` 3 writes it: little-endian, 64 bits, data
 * version 2. Facts from the declarations in the library's mdb.c.
 */

/** Magic number and version at the start of a meta page's content. */
export const MAGIC = 0xbeefc0de;
export const DATA_VERSION = 2;

/** Header of every page: number (8), transaction (8), padding (2), flags (2), and either two bounds (2, 2) or a size (4). */
export const HEADER_BYTES = 24;
export const PAGE_FLAGS_AT = 18;
const LOWER_AT = 20;
const UPPER_AT = 22;
export const OVERFLOW_PAGES_AT = 20;

export const BRANCH = 0x01;
export const LEAF = 0x02;
export const OVERFLOW = 0x04;
export const META = 0x08;

/** Flags of a node: its value is on overflow pages; its value is a table. */
export const ON_OVERFLOW = 0x01;
export const IS_TABLE = 0x02;

const NODE_BYTES = 8;
const TABLE_BYTES = 48;

/** The root of a table without entries. */
const NO_PAGE = 2 ** 64;

/** A tree of pages, and how much of it there should be. */
export interface Tree {
  readonly depth: number;
  readonly branchPages: number;
  readonly leafPages: number;
  readonly overflowPages: number;
  readonly entries: number;
  /** Null for an empty tree. */
  readonly root: number | null;
}

export interface Meta {
  readonly pageBytes: number;
  readonly free: Tree;
  readonly main: Tree;
  readonly lastPage: number;
  readonly transaction: number;
}

/** A node of a branch page, or one of a leaf page whose value has to be looked at. */
export interface Node {
  readonly flags: number;
  /** Size of the value in bytes. */
  readonly bytes: number;
  /** Offset of the value in the page. */
  readonly valueAt: number;
  /** The page below a branch. */
  readonly below: number;
}

/** The nodes of a page, of a leaf only those to be looked at. */
export interface Nodes {
  readonly count: number;
  readonly nodes: readonly Node[];
}

/** An unsigned number of 64 bits; beyond 2 ** 53 it is not exact, and out of every range. */
export function wordAt(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4) * 2 ** 32;
}

/** The meta page at the start of `page`; null if there is none of this format. */
export function readMeta(page: Buffer): Meta | null {
  const at = HEADER_BYTES;
  if (page.readUInt16LE(PAGE_FLAGS_AT) !== META || page.readUInt32LE(at) !== MAGIC) return null;
  if ((page.readUInt32LE(at + 4) & 0xffff) !== DATA_VERSION) return null;
  const pageBytes = page.readUInt32LE(at + 24);
  if (pageBytes < 4096 || pageBytes > 65_536 || (pageBytes & (pageBytes - 1)) !== 0) return null;
  return {
    pageBytes,
    free: readTree(page, at + 24),
    main: readTree(page, at + 24 + TABLE_BYTES),
    lastPage: wordAt(page, at + 24 + 2 * TABLE_BYTES),
    transaction: wordAt(page, at + 32 + 2 * TABLE_BYTES),
  };
}

/** A table as a meta page or a node holds it. */
export function readTree(bytes: Buffer, at: number): Tree {
  const root = wordAt(bytes, at + 40);
  return {
    depth: bytes.readUInt16LE(at + 6),
    branchPages: wordAt(bytes, at + 8),
    leafPages: wordAt(bytes, at + 16),
    overflowPages: wordAt(bytes, at + 24),
    entries: wordAt(bytes, at + 32),
    root: root === NO_PAGE ? null : root,
  };
}

/** Whether a value of this size can be a table. */
export function isTableSize(bytes: number): boolean {
  return bytes === TABLE_BYTES;
}

/**
 * The nodes of a page; null when one is not inside the page. Of a `leaf`, those that have flags; of a `list`, a leaf
 * whose values matter, and of a `branch` all.
 */
export function readNodes(page: Buffer, kind: 'branch' | 'leaf' | 'list'): Nodes | null {
  const lower = page.readUInt16LE(LOWER_AT);
  const upper = page.readUInt16LE(UPPER_AT);
  if (lower % 2 !== 0 || lower > upper || HEADER_BYTES + upper > page.length) return null;
  const nodes: Node[] = [];
  for (let pointer = HEADER_BYTES; pointer < HEADER_BYTES + lower; pointer += 2) {
    const at = HEADER_BYTES + page.readUInt16LE(pointer);
    if (at < HEADER_BYTES + upper || at + NODE_BYTES > page.length) return null;
    const bytes = page.readUInt32LE(at);
    const flags = page.readUInt16LE(at + 4);
    const valueAt = at + NODE_BYTES + page.readUInt16LE(at + 6);
    const inPage = kind === 'branch' ? 0 : (flags & ON_OVERFLOW) === 0 ? bytes : 8;
    if (valueAt + inPage > page.length) return null;
    if (kind === 'leaf' && flags === 0) continue;
    nodes.push({ flags, bytes, valueAt, below: bytes + flags * 2 ** 32 });
  }
  return { count: lower / 2, nodes };
}
