import type * as S3 from '@aws-sdk/client-s3';
import type { GetObjectCommandOutput, HeadObjectCommandOutput, S3Client } from '@aws-sdk/client-s3';
import { Failure } from '../../domain/failure.ts';
import { decodePath } from '../../domain/file-path.ts';
import { type ObjectPath, parseObjectPath } from '../../domain/object-path.ts';
import type { FileSnapshot } from '../sources/sources-file.ts';
import { translateError } from './object-error.ts';

/** Max requests for one answer while the service is overloaded or does not answer. */
const MAX_ATTEMPTS = 5;
/** Max connections of this process to the service; further requests wait for one. */
const MAX_CONNECTIONS = 64;
const CONNECT_MS = 5000;
/** Timeout for one answer of at most 4 MiB, in milliseconds. */
const ANSWER_MS = 60_000;

type Sdk = typeof S3;

let opened: Promise<{ readonly sdk: Sdk; readonly client: S3Client }> | null = null;

/**
 * Creates the client of this process, which shares its connections. Credentials, region and endpoint come from the
 * environment and files that the SDK knows. Loaded with the first object, because few runs need it.
 */
function connect(): NonNullable<typeof opened> {
  return (opened ??= open());
}

async function open(): Promise<{ readonly sdk: Sdk; readonly client: S3Client }> {
  // Otherwise the SDK prints advice about the version of Node on stderr.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  const sdk = await import('@aws-sdk/client-s3');
  const endpoint = process.env['AWS_ENDPOINT_URL_S3'] ?? process.env['AWS_ENDPOINT_URL'] ?? '';
  const agent = { keepAlive: true, maxSockets: MAX_CONNECTIONS };
  const client = new sdk.S3Client({
    maxAttempts: MAX_ATTEMPTS,
    // Services other than Amazon's have no host name for each bucket, need no region, and do not support new checksums.
    ...(endpoint === '' ? {} : { endpoint, forcePathStyle: true, ...defaultRegion() }),
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: ANSWER_MS,
      httpAgent: agent,
      httpsAgent: agent,
    },
  });
  return { sdk, client };
}

function defaultRegion(): { readonly region?: string } {
  const named = process.env['AWS_REGION'] ?? process.env['AWS_DEFAULT_REGION'] ?? '';
  return named === '' ? { region: 'us-east-1' } : { region: named };
}

/** Sends one request and reads its answer. Rejects with the signal's reason, ObjectError, or Failure('service'). */
async function ask<T>(
  path: string,
  signal: AbortSignal,
  request: (
    at: ObjectPath,
    service: Awaited<ReturnType<typeof connect>>,
    abortSignal: AbortSignal,
  ) => Promise<T>,
): Promise<T> {
  const at = parseObjectPath(String(decodePath(path)));
  if (at === null) throw new Failure('usage', 'an address in object storage has no valid bucket');
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted();
    const deadline = AbortSignal.timeout(MAX_ATTEMPTS * ANSWER_MS);
    try {
      return await request(at, await connect(), AbortSignal.any([signal, deadline]));
    } catch (error) {
      signal.throwIfAborted();
      // The SDK retries requests, but not those whose answer breaks off.
      const isCut = error instanceof CutAnswer;
      if (isCut && attempt < MAX_ATTEMPTS) continue;
      throw translateError(isCut ? error.cause : error, at.bucket);
    }
  }
}

/** An answer that broke off. */
class CutAnswer extends Error {}

/** Reads the state of an object. */
export async function headObject(path: string, signal: AbortSignal): Promise<FileSnapshot> {
  try {
    return await ask(path, signal, async ({ bucket, key }, { sdk, client }, abortSignal) => {
      const head = new sdk.HeadObjectCommand({ Bucket: bucket, Key: key });
      return snapshotOf(await client.send(head, { abortSignal }), null);
    });
  } catch (error) {
    // The answer to HEAD is only a status; that to GET distinguishes an object without read access from bad
    // credentials.
    if (error instanceof Failure || signal.aborted) throw error;
    return (await getRange(path, { from: 0, to: 1, of: null }, signal)).state;
  }
}

export interface ObjectRange {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  /** Required state of the object; null for any. */
  readonly of: FileSnapshot | null;
}

/** Reads a byte range of an object, which is shorter at its end, and its state. */
export async function getRange(
  path: string,
  { from, to, of }: ObjectRange,
  signal: AbortSignal,
): Promise<{ readonly bytes: Buffer; readonly state: FileSnapshot }> {
  return ask(path, signal, async ({ bucket, key }, { sdk, client }, abortSignal) => {
    const known = of?.object ?? null;
    const request = {
      Bucket: bucket,
      Key: key,
      Range: `bytes=${from}-${to - 1}`,
      ...(known && { IfMatch: known.etag }),
      ...(known?.version && { VersionId: known.version }),
    };
    const answer = await client
      .send(new sdk.GetObjectCommand(request), { abortSignal })
      .catch((error: unknown) => {
        // An empty object has no range.
        if (from === 0 && error instanceof sdk.S3ServiceException && error.$metadata.httpStatusCode === 416)
          return null;
        throw error;
      });
    if (answer === null) {
      const head = await client.send(new sdk.HeadObjectCommand({ Bucket: bucket, Key: key }), {
        abortSignal,
      });
      return { bytes: Buffer.alloc(0), state: snapshotOf(head, null) };
    }
    const bytes = await answer.Body!.transformToByteArray().catch((cause: unknown) => {
      throw new CutAnswer('the answer broke off', { cause });
    });
    return {
      bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length),
      state: snapshotOf(answer, bytes.length),
    };
  });
}

/** `length` is that of the range in the answer; null for an answer about the whole object. */
function snapshotOf(
  answer: HeadObjectCommandOutput | GetObjectCommandOutput,
  length: number | null,
): FileSnapshot {
  const range = 'ContentRange' in answer ? /\/(\d+)$/.exec(answer.ContentRange ?? '') : null;
  const time = answer.LastModified?.getTime() ?? 0;
  return {
    bytes: length === null ? (answer.ContentLength ?? 0) : Number(range?.[1] ?? length),
    mtime_ms: time,
    ctime_ms: time,
    inode: 0,
    object: { etag: answer.ETag ?? '', version: answer.VersionId ?? null },
  };
}

/** An object in a listing. */
export interface ListedObject {
  readonly key: string;
  readonly bytes: number;
}

/** Lists the objects whose keys begin with that of `path`, in bytewise order, in pages of at most 1,000. */
export async function* listObjects(
  path: string,
  signal: AbortSignal,
  { max }: { readonly max?: number } = {},
): AsyncGenerator<readonly ListedObject[], void> {
  for (let token: string | undefined; ;) {
    const page = await ask(path, signal, async ({ bucket, key }, { sdk, client }, abortSignal) => {
      const request = { Bucket: bucket, Prefix: key, MaxKeys: max, ContinuationToken: token };
      // Without it, a key with a control character breaks the XML of the answer.
      const list = new sdk.ListObjectsV2Command({ ...request, EncodingType: 'url' });
      return client.send(list, { abortSignal });
    });
    const isEncoded = page.EncodingType === 'url';
    yield (page.Contents ?? []).map(({ Key = '', Size = 0 }) => ({
      key: isEncoded ? decodeURIComponent(Key.replaceAll('+', ' ')) : Key,
      bytes: Size,
    }));
    token = page.NextContinuationToken;
    if (page.IsTruncated !== true || token === undefined || max !== undefined) return;
  }
}
