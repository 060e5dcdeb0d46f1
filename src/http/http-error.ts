/** A request that is invalid in HTTP itself, with the status to answer. The message never quotes the request. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export const NOT_FOUND = new HttpError(404, 'this server has nothing under this path');
export const BAD_PATH = new HttpError(400, 'the path is not valid percent-encoding');

/** Errors of Fastify caused by a request, by code. */
const FASTIFY: Readonly<Record<string, HttpError>> = {
  FST_ERR_BAD_URL: BAD_PATH,
  FST_ERR_CTP_INVALID_MEDIA_TYPE: new HttpError(415, 'this path does not take bodies of this content type'),
};

/** The error as an HttpError; null if it is another kind. */
export function httpErrorOf(error: unknown): HttpError | null {
  if (error instanceof HttpError) return error;
  return FASTIFY[String((error as NodeJS.ErrnoException | null)?.code)] ?? null;
}
