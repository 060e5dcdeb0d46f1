import { z } from 'zod';
import { toolVersion } from '../../config/tool-version.ts';
import { type ErrorCode, RETRY_AFTER_SECONDS, STATUS } from './errors.ts';
import { errorBody, health, mediaForm, textRequest, verdict } from './schemas.ts';

/** Errors of every path: the checks that come before any route. */
const COMMON: readonly ErrorCode[] = ['UNAUTHORIZED', 'FORBIDDEN', 'INTERNAL'];

const MODERATION: readonly ErrorCode[] = [
  ...COMMON,
  ...(['INVALID_REQUEST', 'ITEM_TOO_LARGE', 'UNSUPPORTED_TYPE', 'MISSING_PAYLOAD', 'EMPTY_CONTENT'] as const),
  ...([
    'GUARD_REJECTED',
    'TOO_MANY_REQUESTS',
    'GUARD_OVERLOADED',
    'GUARD_INTERNAL',
    'INVALID_REPLY',
  ] as const),
  ...(['PROBE_NOT_LOADED', 'GUARD_UNAVAILABLE', 'TIMEOUT'] as const),
];

const TEXT: readonly ErrorCode[] = [...MODERATION, 'INVALID_ENCODING', 'SEQUENCE_OVERFLOW'];
const IMAGE: readonly ErrorCode[] = [...MODERATION, 'MEDIA_TOO_LARGE', 'CORRUPT_MEDIA'];
const AUDIO: readonly ErrorCode[] = [...IMAGE, 'UNSUPPORTED_AUDIO_TYPE'];

const SCHEMAS = {
  Verdict: verdict,
  TextRequest: textRequest,
  MediaForm: mediaForm,
  Error: errorBody,
  Health: health,
};

/**
 * The description of the API in OpenAPI 3.1, from the schemas that requests and replies are checked against.
 * `needsToken`: whether this server requires a bearer token.
 */
export function openApiDocument(needsToken: boolean): object {
  return {
    openapi: '3.1.1',
    info: {
      title: 'guardsweep gateway',
      version: toolVersion(),
      description: 'Moderation of texts, images and audio by a guard model.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: needsToken ? [{ bearer: [] }] : [{}, { bearer: [] }],
    paths: {
      '/v1/moderations/text': {
        post: moderation('moderateText', 'Judge a text', TEXT, 'application/json', 'TextRequest'),
      },
      '/v1/moderations/image': {
        post: moderation('moderateImage', 'Judge an image', IMAGE, 'multipart/form-data', 'MediaForm'),
      },
      '/v1/moderations/audio': {
        post: moderation('moderateAudio', 'Judge a clip', AUDIO, 'multipart/form-data', 'MediaForm'),
      },
      '/healthz': { get: status('isAlive', 'Whether the gateway runs', COMMON, json('Health')) },
      '/readyz': {
        get: status('isReady', 'Whether a guard is ready', [...COMMON, 'GUARD_UNAVAILABLE'], json('Health')),
      },
      '/metrics': {
        get: status('readMetrics', 'Metrics in the text format of Prometheus', COMMON, {
          'text/plain': { schema: { type: 'string' } },
        }),
      },
      '/openapi.json': {
        get: status('readDescription', 'This description', COMMON, {
          'application/json': { schema: { type: 'object' } },
        }),
      },
    },
    components: {
      schemas: Object.fromEntries(
        Object.entries(SCHEMAS).map(([name, schema]) => [name, jsonSchema(schema)]),
      ),
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    },
  };
}

function moderation(
  operationId: string,
  summary: string,
  codes: readonly ErrorCode[],
  contentType: string,
  schema: keyof typeof SCHEMAS,
): object {
  const verdicts = {
    description: 'The verdict',
    headers: {
      'guardsweep-coverage': {
        description: 'What part of the content was judged, such as `8/120 frames`. Absent if all of it was.',
        schema: { type: 'string' },
      },
    },
    content: json('Verdict'),
  };
  return {
    operationId,
    summary,
    requestBody: { required: true, content: { [contentType]: { schema: refTo(schema) } } },
    responses: { 200: verdicts, ...errorResponses(codes) },
  };
}

function status(operationId: string, summary: string, codes: readonly ErrorCode[], content: object): object {
  return {
    operationId,
    summary,
    responses: { 200: { description: summary, content }, ...errorResponses(codes) },
  };
}

/** One response for each status, which names the codes that have it. */
function errorResponses(codes: readonly ErrorCode[]): Record<number, object> {
  const responses: Record<number, object> = {};
  for (const httpStatus of new Set(codes.map((code) => STATUS[code]))) {
    const same = codes.filter((code) => STATUS[code] === httpStatus);
    const passes = same.some((code) => RETRY_AFTER_SECONDS[code] !== undefined);
    responses[httpStatus] = {
      description: same.join(', '),
      ...(passes ? { headers: { 'retry-after': RETRY_AFTER } } : {}),
      content: json('Error'),
    };
  }
  return responses;
}

const RETRY_AFTER = { description: 'Seconds to wait', schema: { type: 'integer', minimum: 1 } };

function json(schema: keyof typeof SCHEMAS): object {
  return { 'application/json': { schema: refTo(schema) } };
}

function refTo(schema: keyof typeof SCHEMAS): object {
  return { $ref: `#/components/schemas/${schema}` };
}

/** Without the dialect, which is that of OpenAPI 3.1. */
function jsonSchema(schema: z.ZodType): object {
  const made: { $schema?: unknown } = z.toJSONSchema(schema, { unrepresentable: 'any' });
  delete made.$schema;
  return made;
}
