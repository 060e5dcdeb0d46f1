import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Judgement } from '../../domain/outcome.ts';
import { CATEGORY_KEYS } from '../../domain/taxonomy.ts';
import { hasRepeatedNames, isNestedTooDeeply } from '../../formats/json/json-record.ts';
import { isBlank } from '../../formats/transcripts/draft.ts';
import { HttpError } from '../../http/http-error.ts';
import { ApiError } from '../api/errors.ts';
import { WRONG_TYPE } from '../api/foreign-errors.ts';
import { textRequest, type Verdict } from '../api/schemas.ts';
import type { GuardWatch } from '../guard-watch.ts';
import { MAX_FORM_BYTES, MAX_TEXT_BODY_BYTES } from '../limits.ts';
import type { Moderation } from '../moderation.ts';
import type { Arriving, Intake } from '../requests/intake.ts';
import { readMediaForm } from '../requests/media-form.ts';
import type { OpenRequest, OpenRequests } from '../requests/open-requests.ts';
import type { Uploads } from '../requests/uploads.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The request for moderation, once it is admitted. */
    admitted: OpenRequest | null;
  }
}

export interface ModerationParts {
  readonly moderation: Moderation;
  readonly uploads: Uploads;
  readonly intake: Intake;
  readonly openRequests: OpenRequests;
  readonly guardWatch: GuardWatch;
}

/** `POST /v1/moderations/{text,image,audio}`: the REST API of the guard's contract. */
export function addModerationRoutes(app: FastifyInstance, parts: ModerationParts): void {
  const { moderation, uploads } = parts;
  app.decorateRequest('admitted', null);

  app.post<{ Body: Buffer | undefined }>(
    '/v1/moderations/text',
    { onRequest: (request, reply) => admit(request, reply, 'text', parts) },
    async ({ body, admitted, headers }, reply) => {
      const startedAt = performance.now();
      if (!Buffer.isBuffer(body)) throw wrongType(headers['content-type']);
      const text = textOf(body);
      const request = { requestType: 'prompt', modality: 'text', text } as const;
      return answer(reply, await moderation.judge(request, admitted!.signal), startedAt);
    },
  );

  for (const modality of ['image', 'audio'] as const) {
    app.post(
      `/v1/moderations/${modality}`,
      { onRequest: (request, reply) => admit(request, reply, 'media', parts) },
      async (request, reply) => {
        const { signal } = request.admitted!;
        if (!request.isMultipart()) throw wrongType(request.headers['content-type']);
        const { file, caption } = await readMediaForm(request, uploads, signal);
        const startedAt = performance.now();
        try {
          const media = { requestType: 'prompt', modality, file: file.file, caption } as const;
          return answer(reply, await moderation.judge(media, signal), startedAt);
        } finally {
          await file.discard();
        }
      },
    );
  }
}

/** Admits a request, or rejects it, before its body is read. */
async function admit(
  request: FastifyRequest,
  reply: FastifyReply,
  kind: Arriving['kind'],
  { guardWatch, openRequests, intake }: ModerationParts,
): Promise<void> {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') throw new ApiError('UNSUPPORTED_TYPE', 'the body must not be compressed');
  const limit = kind === 'text' ? MAX_TEXT_BODY_BYTES : MAX_FORM_BYTES;
  const bytes = Number(request.headers['content-length'] ?? limit);
  if (bytes > limit) throw new HttpError(413, `the body has more than ${limit} bytes`);
  const { refusal } = guardWatch;
  if (refusal !== null) throw refusal;
  const open = openRequests.open(reply.raw);
  open.onEnd(await intake.enter({ kind, bytes }, open.signal));
  request.admitted = open;
}

/** The text in the body of a request: `{"text": "..."}` in UTF-8. Throws an ApiError. */
function textOf(body: Buffer): string {
  if (body.length === 0) throw new ApiError('MISSING_PAYLOAD', 'the request has no body');
  if (!isUtf8(body)) throw new ApiError('INVALID_ENCODING', 'the body is not UTF-8');
  if (isNestedTooDeeply(body)) throw new ApiError('INVALID_REQUEST', 'the body is nested too deeply');
  const json = body.toString();
  const value = parsed(json);
  const request = textRequest.safeParse(value);
  if (request.success && Object.keys(value as object).length === 1) {
    const { text } = request.data;
    if (hasRepeatedNames(json, value)) throw new ApiError('INVALID_REQUEST', 'the body has its field twice');
    if (isBlank(text)) throw new ApiError('EMPTY_CONTENT', 'the text is blank');
    return text;
  }
  if (isObject(value) && !Object.hasOwn(value, 'text')) {
    throw new ApiError('MISSING_PAYLOAD', 'the body has no field text');
  }
  throw new ApiError('INVALID_REQUEST', 'the body must be an object with one field, text, that is a string');
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new ApiError('INVALID_REQUEST', 'the body is not JSON');
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The error for a body of another type than the route accepts. Without a type, there is no body either. */
function wrongType(given: string | undefined): ApiError {
  return given === undefined ? new ApiError('MISSING_PAYLOAD', 'the request has no body') : WRONG_TYPE;
}

function answer(reply: FastifyReply, judgement: Judgement, startedAt: number): FastifyReply {
  const partial = partialCoverage(judgement);
  if (partial !== null) reply.header('guardsweep-coverage', partial);
  return reply.send(verdictReply(judgement, performance.now() - startedAt));
}

/**
 * The REST verdict of a judgement. `subcategory_flags` has a key for each category that was judged, in the order of the
 * taxonomy, then the flagged keys outside of it. It is empty when nothing is flagged.
 */
function verdictReply(judgement: Judgement, latencyMs: number): Verdict {
  const { score, flagged, subcategoryScores, subcategoryFlags } = judgement;
  const set = new Set(subcategoryFlags);
  const judged = CATEGORY_KEYS.filter((key) => set.has(key) || subcategoryScores?.[key] !== undefined);
  const outside = [...set].filter((key) => !(CATEGORY_KEYS as readonly string[]).includes(key));
  const isPopulated = subcategoryFlags !== null && (flagged || set.size > 0);
  return {
    flagged,
    score,
    // Unlike an assignment, this keeps a key named __proto__.
    subcategory_flags: isPopulated
      ? Object.fromEntries([...judged, ...outside].map((key) => [key, set.has(key)]))
      : {},
    latency_ms: Math.round(latencyMs * 10) / 10,
  };
}

/** The judged part of the content, such as `8/120 frames`; null if all of it was. */
function partialCoverage({ coverage: { unit, judged, total } }: Judgement): string | null {
  return judged === total ? null : `${judged}/${total} ${unit}`;
}
