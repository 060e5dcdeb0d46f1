import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { filesOf } from './run-directory.ts';

const BUCKET = 'uploads';
const ACCESS_KEY = 'TESTKEY';

export interface StoredRequest {
  readonly method: string;
  /** Empty for a listing. */
  readonly key: string;
  readonly range: string;
  readonly ifMatch: string;
  readonly version: string | null;
}

/** What the server does instead of an answer: refuse with a status and a code, or never answer. */
type Refusal = { readonly status: number; readonly code: string };
type Fault = Refusal | 'hang' | null;

interface Stored {
  readonly bytes: Buffer;
  readonly etag: string;
  readonly version: string;
  readonly time: Date;
}

/** One bucket over HTTP, in memory: ListObjectsV2, HeadObject and GetObject as Amazon's S3 API reference describes them. */
export class ObjectStore {
  readonly requests: StoredRequest[] = [];
  fault: (request: StoredRequest) => Fault = () => null;
  readonly #server = createServer((request, response) => this.#handle(request, response));
  readonly #objects = new Map<string, Stored>();
  readonly #hasVersions: boolean;
  #writes = 0;

  private constructor(hasVersions: boolean) {
    this.#hasVersions = hasVersions;
  }

  static async start({ versions = false } = {}): Promise<ObjectStore> {
    const store = new ObjectStore(versions);
    await new Promise<void>((resolve) => store.#server.listen(0, '127.0.0.1', resolve));
    onTestFinished(async () => {
      store.#server.closeAllConnections();
      await new Promise((resolve) => store.#server.close(resolve));
    });
    return store;
  }

  /** What a client needs to find it. */
  get env(): Record<string, string> {
    return {
      AWS_ENDPOINT_URL: `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`,
      AWS_ACCESS_KEY_ID: ACCESS_KEY,
      AWS_SECRET_ACCESS_KEY: 'secret',
    };
  }

  put(key: string, content: string | Buffer): void {
    const bytes = Buffer.from(content as string);
    const etag = JSON.stringify(createHash('md5').update(bytes).digest('hex'));
    const version = `v${++this.#writes}`;
    this.#objects.set(key, { bytes, etag, version, time: new Date() });
  }

  /** Puts the files of a folder under a prefix. */
  async putFolder(folder: string, prefix: string): Promise<void> {
    for (const path of await filesOf(folder)) this.put(prefix + path, await readFile(join(folder, path)));
  }

  delete(key: string): void {
    this.#objects.delete(key);
  }

  #handle(message: IncomingMessage, response: ServerResponse): void {
    const [path, query] = message.url!.split('?');
    const searchParams = new URLSearchParams(query);
    const [, bucket, ...parts] = path!.split('/');
    const key = decodeURIComponent(parts.join('/'));
    const header = (name: string): string => String(message.headers[name] ?? '');
    const request: StoredRequest = {
      method: message.method!,
      key,
      range: header('range'),
      ifMatch: header('if-match'),
      version: searchParams.get('versionId'),
    };
    this.requests.push(request);
    const fault = this.fault(request);
    if (fault === 'hang') return;
    const isSigned = header('authorization').startsWith(`AWS4-HMAC-SHA256 Credential=${ACCESS_KEY}/`);
    if (fault !== null) refuse(response, fault);
    else if (!isSigned) refuse(response, { status: 403, code: 'AccessDenied' });
    else if (bucket !== BUCKET) refuse(response, { status: 404, code: 'NoSuchBucket' });
    else if (key === '') this.#list(searchParams, response);
    else this.#answer(request, response);
  }

  #list(query: URLSearchParams, response: ServerResponse): void {
    const after = query.get('continuation-token');
    const keys = [...this.#objects.keys()]
      .filter((key) => key.startsWith(query.get('prefix') ?? ''))
      .sort(bytewise)
      .filter((key) => after === null || bytewise(key, after) > 0);
    const page = keys.slice(0, Number(query.get('max-keys') ?? 1000));
    const isTruncated = page.length < keys.length;
    const contents = page.map((key) => {
      const { bytes, etag } = this.#objects.get(key)!;
      const fields = `<ETag>${etag}</ETag><Size>${bytes.length}</Size>`;
      return `<Contents><Key>${encodeURIComponent(key)}</Key>${fields}</Contents>`;
    });
    const next = `<NextContinuationToken>${escapeXml(page.at(-1) ?? '')}</NextContinuationToken>`;
    const about = `<EncodingType>url</EncodingType><IsTruncated>${isTruncated}</IsTruncated>`;
    response.setHeader('content-type', 'application/xml');
    response.end(
      `<ListBucketResult>${about}${isTruncated ? next : ''}${contents.join('')}</ListBucketResult>`,
    );
  }

  #answer({ method, key, range, ifMatch }: StoredRequest, response: ServerResponse): void {
    const object = this.#objects.get(key);
    if (object === undefined) return refuse(response, { status: 404, code: 'NoSuchKey' });
    if (ifMatch !== '' && ifMatch !== object.etag)
      return refuse(response, { status: 412, code: 'PreconditionFailed' });
    const { length } = object.bytes;
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(range) ?? [];
    const first = Number(from ?? 0);
    const end = Math.min(Number(to ?? length) + 1, length);
    if (from !== undefined && first >= length) return refuse(response, { status: 416, code: 'InvalidRange' });
    response.statusCode = from === undefined ? 200 : 206;
    if (from !== undefined) response.setHeader('content-range', `bytes ${first}-${end - 1}/${length}`);
    if (this.#hasVersions) response.setHeader('x-amz-version-id', object.version);
    response.setHeader('etag', object.etag);
    response.setHeader('last-modified', object.time.toUTCString());
    response.setHeader('content-length', end - first);
    response.end(method === 'HEAD' ? undefined : object.bytes.subarray(first, end));
  }
}

const bytewise = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

const escapeXml = (text: string): string => text.replace(/[<>&]/g, (char) => `&#${char.charCodeAt(0)};`);

function refuse(response: ServerResponse, { status, code }: Refusal): void {
  response.writeHead(status, { 'content-type': 'application/xml' });
  response.end(`<Error><Code>${code}</Code><Message>hostile &#27;[31m text</Message></Error>`);
}
