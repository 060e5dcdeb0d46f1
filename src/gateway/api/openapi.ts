import { z } from 'zod';
import { toolVersion } from '../../config/tool-version.ts';
import { STATUS } from './errors.ts';
import { errorBody, health, mediaForm, textRequest, verdict } from './schemas.ts';

const SCHEMAS = {
  Verdict: verdict,
  TextRequest: textRequest,
  MediaForm: mediaForm,
  Error: errorBody,
  Health: health,
};

/**
 * Describes the API in OpenAPI 3.1, from the schemas that requests and replies are checked against. `needsToken` tells
 * whether this server requires a bearer token.
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
        post: moderation('moderateText', 'Judge a text', 'application/json', 'TextRequest'),
      },
      '/v1/moderations/image': {
        post: moderation('moderateImage', 'Judge an image', 'multipart/form-data', 'MediaForm'),
      },
      '/v1/moderations/audio': {
        post: moderation('moderateAudio', 'Judge an audio clip', 'multipart/form-data', 'MediaForm'),
      },
      '/healthz': { get: operation('isAlive', 'Whether the gateway runs', json('Health')) },
      '/readyz': {
        get: operation('isReady', 'Whether a guard and, if it is named, Redis is ready', json('Health')),
      },
      '/metrics': {
        get: operation('readMetrics', 'Metrics in the text format of Prometheus', {
          'text/plain': { schema: { type: 'string' } },
        }),
      },
      '/openapi.json': {
        get: operation('readDescription', 'This description', {
          'application/json': { schema: { type: 'object' } },
        }),
      },
    },
    components: {
      schemas: Object.fromEntries(
        Object.entries(SCHEMAS).map(([name, schema]) => [name, toJsonSchema(schema)]),
      ),
      responses: { Error: ERROR },
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    },
  };
}

/** The response to every request that fails. */
const ERROR = {
  description: `An error, with a status by its code: ${Object.entries(STATUS)
    .map(([code, status]) => `${code} ${status}`)
    .join(', ')}`,
  headers: {
    'retry-after': {
      description: 'Seconds to wait. Sent with 429 and 503.',
      schema: { type: 'integer', minimum: 1 },
    },
  },
  content: json('Error'),
};

const COVERAGE = {
  description: 'What part of the content was judged, such as `8/120 frames`. Absent if all of it was.',
  schema: { type: 'string' },
};

function moderation(
  operationId: string,
  summary: string,
  contentType: string,
  schema: keyof typeof SCHEMAS,
): object {
  return {
    ...operation(operationId, summary, json('Verdict'), { 'guardsweep-coverage': COVERAGE }),
    requestBody: { required: true, content: { [contentType]: { schema: schemaRef(schema) } } },
  };
}

function operation(operationId: string, summary: string, content: object, headers: object = {}): object {
  return {
    operationId,
    summary,
    responses: {
      200: { description: summary, headers, content },
      default: { $ref: '#/components/responses/Error' },
    },
  };
}

function json(schema: keyof typeof SCHEMAS): object {
  return { 'application/json': { schema: schemaRef(schema) } };
}

function schemaRef(schema: keyof typeof SCHEMAS): object {
  return { $ref: `#/components/schemas/${schema}` };
}

/** Converts a schema without its dialect, which is that of OpenAPI 3.1. */
function toJsonSchema(schema: z.ZodType): object {
  const made: { $schema?: unknown } = z.toJSONSchema(schema, { unrepresentable: 'any' });
  delete made.$schema;
  return made;
}
