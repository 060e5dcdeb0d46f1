import { createRequire } from 'node:module';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

/** Media types of files from the build; other files are not served. */
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};

const COMPRESSED: ReadonlySet<string> = new Set(['.html', '.js', '.css', '.svg']);

/** The build's own bound is far lower. */
const MAX_BYTES = 16 * 1024 * 1024;

const INDEX = 'index.html';
/** Folder for files whose names change with their content. */
const ASSETS = 'assets';

export interface WebFile {
  readonly type: string;
  readonly body: Buffer;
  /** Null if compression does not help. */
  readonly gzipped: Buffer | null;
}

/** The built pages, in memory. */
export interface WebFiles {
  /** The file served for every page. */
  readonly index: WebFile;
  /** Files by name. */
  readonly assets: ReadonlyMap<string, WebFile>;
}

/** The folder that the build writes to; null before the first build. */
export function webFolder(): string | null {
  try {
    return dirname(createRequire(import.meta.url).resolve(`#web/${INDEX}`));
  } catch {
    return null;
  }
}

/** Reads the pages. Rejects with the system's error. */
export async function readWebFiles(folder: string): Promise<WebFiles> {
  const assets = new Map<string, WebFile>();
  let bytes = 0;
  for (const name of await readdir(join(folder, ASSETS))) {
    const path = join(folder, ASSETS, name);
    const found = await lstat(path);
    if (!found.isFile() || TYPES[extname(name)] === undefined) continue;
    bytes += found.size;
    if (bytes > MAX_BYTES) throw new Error('the pages are larger than any build');
    assets.set(name, await readWebFile(path));
  }
  return { index: await readWebFile(join(folder, INDEX)), assets };
}

async function readWebFile(path: string): Promise<WebFile> {
  const body = await readFile(path);
  const extension = extname(path);
  const gzipped = COMPRESSED.has(extension) ? await promisify(gzip)(body, { level: 9 }) : null;
  return { type: TYPES[extension]!, body, gzipped };
}
