import { Failure } from '../../domain/failure.ts';
import { itemError, transientError, type ItemError } from '../../domain/item-error.ts';

/** Why one object cannot be read, though the service answers. */
export class ObjectError extends Error {
  override readonly name = 'ObjectError';
  readonly error: ItemError;

  constructor(error: ItemError) {
    super(error.message);
    this.error = error;
  }
}

/** Advice for errors of the whole service or of our access to it, by the error name from the service or the SDK. */
const ADVICE: Readonly<Record<string, string>> = {
  NoSuchBucket: 'there is no such bucket',
  InvalidAccessKeyId: 'the credentials are not known there',
  SignatureDoesNotMatch: 'the secret key does not fit',
  ExpiredToken: 'the credentials have expired',
  InvalidToken: 'the session token is not valid',
  RequestTimeTooSkewed: 'the clock of this machine is wrong',
  PermanentRedirect: 'the bucket is in another region: set AWS_REGION',
  AuthorizationHeaderMalformed: 'the bucket is in another region: set AWS_REGION',
  IllegalLocationConstraintException: 'the bucket is in another region: set AWS_REGION',
  CredentialsProviderError:
    'no credentials were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE',
  AbortError: 'it does not answer in time',
  TimeoutError: 'it does not answer in time',
  TokenProviderError: 'no credentials were found: sign in again',
};

/** A name that is safe in a message: a service may send anything. */
const NAME = /^[A-Za-z][A-Za-z0-9_]{1,40}$/;

/**
 * Converts the error of a request: ObjectError if the object is the reason; otherwise Failure('service'), because every
 * other object would fail the same way.
 */
export function translateError(error: unknown, bucket: string): ObjectError | Failure {
  const { name, code, $metadata } = error as {
    readonly name?: string;
    readonly code?: string;
    readonly $metadata?: { readonly httpStatusCode?: number };
  };
  const status = $metadata?.httpStatusCode ?? null;
  const advice = ADVICE[name ?? ''];
  if (advice === undefined && status !== null && status >= 400 && status < 500 && status !== 429) {
    return new ObjectError(objectProblem(status, name ?? ''));
  }
  const known = [code, name].find((text) => text !== undefined && text !== 'Error' && NAME.test(text));
  const why = advice ?? `${known ?? 'no answer'}${status === null ? '' : `, status ${status}`}`;
  return new Failure('service', `the bucket ${bucket} cannot be read: ${why}`, { cause: error });
}

function objectProblem(status: number, name: string): ItemError {
  if (status === 404 || status === 412) {
    return itemError('SOURCE_CHANGED', 'the object was changed or deleted after the run was created');
  }
  if (name === 'InvalidObjectState') {
    return itemError('UNREADABLE_SOURCE', 'the object is archived: restore it first');
  }
  if (status === 403) return itemError('UNREADABLE_SOURCE', 'access to the object is denied');
  const why = NAME.test(name) ? name : `status ${status}`;
  return itemError('UNREADABLE_SOURCE', `the object cannot be read (${why})`);
}

/**
 * The item's error for a failed read of an object, which may be retried after an outage. Throws any other error, such
 * as that of an abort.
 */
export function toReadProblem(error: unknown): ItemError {
  if (error instanceof ObjectError) return error.error;
  if (error instanceof Failure && error.kind === 'service') {
    return transientError('UNREADABLE_SOURCE', error.message);
  }
  throw error;
}
