import { createHash } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRequire } from 'node:module';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { onTestFinished } from 'vitest';

const BUCKET = 'uploads';
const require = createRequire(import.meta.url);

type MakeCipher = (algorithm: string, key: Buffer, iv: Buffer) => unknown;

/** s3rver encrypts the places of its listings with DES, which today's OpenSSL lacks. */
function replaceDes(): void {
  const crypto = require('node:crypto') as Record<string, MakeCipher>;
  for (const name of ['createCipheriv', 'createDecipheriv']) {
    const make = crypto[name]!;
    crypto[name] = (algorithm, key, iv) =>
      algorithm === 'des'
        ? make('aes-128-cbc', Buffer.concat([key, key]), Buffer.concat([iv, iv]))
        : make(algorithm, key, iv);
  }
}
replaceDes();

/** The parts of Koa and of s3rver that are used here. */
interface Context {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  get(header: string): string;
  set(header: string, value: string): void;
  status: number;
  type: string;
  body: unknown;
}
interface S3rver {
  store: unknown;
  readonly context: { store: unknown };
  readonly middleware: ((ctx: Context, next: () => Promise<void>) => Promise<void>)[];
  readonly httpServer: Server;
  run(): Promise<AddressInfo>;
}

export interface StoredRequest {
  readonly method: string;
  /** Empty for a listing. */
  readonly key: string;
  readonly range: string;
  readonly ifMatch: string;
  readonly version: string | undefined;
}

/** What the server does instead of an answer: refuse with a status and a code, or never answer. */
type Fault = { readonly status: number; readonly code: string } | 'hang' | null;

interface Stored {
  readonly bytes: Buffer;
  readonly etag: string;
  readonly version: string;
  readonly time: string;
}

/**
 * s3rver, which checks signatures and speaks S3 over HTTP, with a store in memory: its own keeps objects as files, so it
 * cannot have keys such as `a/../b`. What it lacks is added in front: If-Match, versions, and faults.
 */
export class ObjectStore {
  readonly requests: StoredRequest[] = [];
  fault: (request: StoredRequest) => Fault = () => null;
  readonly #server: S3rver;
  readonly #objects = new Map<string, Stored>();
  readonly #hasVersions: boolean;
  #writes = 0;
  #port = 0;

  private constructor(hasVersions: boolean) {
    this.#hasVersions = hasVersions;
    const Server = require('s3rver') as new (options: object) => S3rver;
    this.#server = new Server({ port: 0, address: '127.0.0.1', silent: true, directory: '/nowhere' });
    this.#server.context.store = this.#server.store = this.#memory();
    this.#server.middleware.unshift((ctx, next) => this.#handle(ctx, next));
  }

  static async start({ versions = false } = {}): Promise<ObjectStore> {
    const store = new ObjectStore(versions);
    store.#port = (await store.#server.run()).port;
    onTestFinished(async () => {
      store.#server.httpServer.closeAllConnections();
      await new Promise((resolve) => store.#server.httpServer.close(resolve));
    });
    return store;
  }

  /** What a client needs to find it. */
  get env(): Record<string, string> {
    return {
      AWS_ENDPOINT_URL: `http://127.0.0.1:${this.#port}`,
      AWS_ACCESS_KEY_ID: 'S3RVER',
      AWS_SECRET_ACCESS_KEY: 'S3RVER',
    };
  }

  put(key: string, content: string | Buffer): void {
    const bytes = Buffer.from(content as string);
    const etag = JSON.stringify(createHash('md5').update(bytes).digest('hex'));
    const version = `v${++this.#writes}`;
    this.#objects.set(key, { bytes, etag, version, time: new Date().toUTCString() });
  }

  /** Puts the files of a folder under a prefix. */
  async putFolder(folder: string, prefix: string): Promise<void> {
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      this.put(prefix + path.slice(folder.length + 1), await readFile(path));
    }
  }

  delete(key: string): void {
    this.#objects.delete(key);
  }

  async #handle(ctx: Context, next: () => Promise<void>): Promise<void> {
    const [, bucket, ...parts] = ctx.path.split('/');
    const key = decodeURIComponent(parts.join('/'));
    const request = {
      method: ctx.method,
      key,
      range: ctx.get('range'),
      ifMatch: ctx.get('if-match'),
      version: ctx.query['versionId'],
    };
    this.requests.push(request);
    const object = bucket === BUCKET ? this.#objects.get(key) : undefined;
    const isOther = object !== undefined && request.ifMatch !== '' && request.ifMatch !== object.etag;
    const fault = this.fault(request) ?? (isOther ? { status: 412, code: 'PreconditionFailed' } : null);
    if (fault === 'hang') return new Promise(() => {});
    if (fault === null) {
      await next();
      if (object !== undefined && this.#hasVersions) ctx.set('x-amz-version-id', object.version);
      return;
    }
    ctx.status = fault.status;
    ctx.type = 'application/xml';
    ctx.body = `<Error><Code>${fault.code}</Code><Message>hostile \u001b[31m text</Message></Error>`;
  }

  #memory(): object {
    const S3Object = require('s3rver/lib/models/object') as new (
      bucket: string,
      key: string,
      content: Readable | null,
      metadata: object,
    ) => { range?: object };
    const objectOf = (key: string, content: Readable | null): { range?: object } => {
      const { bytes, etag, time } = this.#objects.get(key)!;
      const metadata = { etag, 'last-modified': time, 'content-length': bytes.length };
      return new S3Object(BUCKET, key, content, metadata);
    };
    return {
      getBucket: async (name: string) => (name === BUCKET ? { name } : null),
      getSubresource: async () => undefined,
      existsObject: async (_: string, key: string) => this.#objects.has(key),
      listObjects: async (_: string, options: { prefix?: string; startAfter?: string; maxKeys: number }) => {
        const { prefix = '', startAfter = '', maxKeys } = options;
        const inOrder = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
        const keys = [...this.#objects.keys()].sort(inOrder).filter((key) => key.startsWith(prefix));
        const after = keys.filter((key) => startAfter === '' || inOrder(key, startAfter) > 0);
        const objects = after.slice(0, maxKeys).map((key) => objectOf(key, null));
        return { objects, commonPrefixes: [], isTruncated: after.length > maxKeys };
      },
      getObject: async (_: string, key: string, range: { start?: number; end?: number }) => {
        const stored = this.#objects.get(key);
        if (stored === undefined) return null;
        const { start, end = Infinity } = range;
        const last = Math.min(end, stored.bytes.length - 1);
        const isEmpty = start !== undefined && last < start;
        const part = stored.bytes.subarray(start ?? 0, last + 1);
        const object = objectOf(key, isEmpty ? null : Readable.from([part]));
        if (start !== undefined) object.range = { start, end: last };
        return object;
      },
    };
  }
}
