import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type ItemContent, TEXT_SEARCH, type TextHits, THUMBNAIL } from '../api/items.ts';
import type { ApiFailure } from '../api/runs.ts';
import { DashboardError } from '../errors.ts';
import type { RunIndexes } from '../index/run-indexes.ts';
import { parseRequestBody } from '../body.ts';
import type { DecodedMedia } from '../content/decoded-media.ts';
import type { ItemContents, Unavailable, Viewer } from '../content/item-contents.ts';
import type { RunFolder } from '../runs/run-folder.ts';
import { type ItemRoute, noSuchItem, seqOf, clientAbortSignal } from './item-request.ts';

/** Maximum text items examined by one search. */
const MAX_SEARCHED = 100_000;

export interface ContentParts {
  readonly runs: RunFolder;
  readonly contents: ItemContents;
  readonly indexes: RunIndexes;
}

export const NOTHING = z.strictObject({}).optional();

/** Policy for content responses, which must not run as a page whatever opens them. */
export const ONLY_SHOWN = { 'content-security-policy': "default-src 'none'; sandbox" };

/**
 * Routes for `content`, `media` and `thumbnail` of an item, and the search in texts. They are POST because they return
 * content, which is logged as a reveal.
 */
export function addContentRoutes(app: FastifyInstance, { runs, contents, indexes }: ContentParts): void {
  app.post<ItemRoute>('/api/runs/:run/items/:seq/content', async (request, reply): Promise<ItemContent> => {
    const { dir, seq } = await itemOf(request, runs);
    const content = await contents.content(dir, seq, viewerOf(request, reply));
    if (content === null) throw noSuchItem();
    reply.headers(ONLY_SHOWN).header('content-disposition', 'inline');
    return content;
  });

  app.post<{ Params: { run: string } }>('/api/runs/:run/text-search', (request, reply) =>
    searchTexts(request, reply, { runs, contents, indexes }),
  );

  app.post<ItemRoute>('/api/runs/:run/items/:seq/media', async (request, reply) => {
    const { dir, seq } = await itemOf(request, runs);
    return sendMedia(reply, await contents.media(dir, seq, viewerOf(request, reply)));
  });

  app.post<ItemRoute>('/api/runs/:run/items/:seq/thumbnail', async (request, reply) => {
    const { revealed } = parseRequestBody(THUMBNAIL, request.body ?? {});
    const { dir, seq } = await placeOf(request, runs);
    const look = revealed ? 'thumbnail' : 'blurred';
    return sendMedia(reply, await contents.media(dir, seq, viewerOf(request, reply), look));
  });
}

async function searchTexts(
  request: FastifyRequest<{ Params: { run: string } }>,
  reply: FastifyReply,
  { runs, contents, indexes }: ContentParts,
): Promise<TextHits> {
  const { text, filter, from } = parseRequestBody(TEXT_SEARCH, request.body);
  const dir = await runs.find(request.params.run);
  const viewer = viewerOf(request, reply);
  const seqs = await indexes.use(dir, viewer.client, (index) =>
    index.texts(filter, from, MAX_SEARCHED + 1, viewer.client),
  );
  const left = seqs.length > MAX_SEARCHED ? seqs.pop()! : null;
  const hits = await contents.search(dir, { text, seqs }, viewer);
  if ('kind' in hits) throw new DashboardError('UNAVAILABLE', hits.message);
  return { ...hits, next: hits.next ?? left };
}

function sendMedia(reply: FastifyReply, media: DecodedMedia | Unavailable | null): FastifyReply {
  if (media === null) throw noSuchItem();
  reply.headers(ONLY_SHOWN);
  if ('kind' in media) {
    const { reason: code, message } = media;
    return reply.code(409).send({ error: { code, message } } satisfies ApiFailure);
  }
  const name = media.type === 'image/png' ? 'item.png' : 'item.wav';
  return reply.type(media.type).header('content-disposition', `inline; filename="${name}"`).send(media.bytes);
}

export function viewerOf({ session }: Pick<FastifyRequest, 'session'>, reply: FastifyReply): Viewer {
  return { client: clientAbortSignal(reply), reviewer: session?.reviewer ?? null };
}

interface ItemPlace {
  readonly dir: string;
  readonly seq: number;
}

async function itemOf(request: FastifyRequest<ItemRoute>, runs: RunFolder): Promise<ItemPlace> {
  parseRequestBody(NOTHING, request.body);
  return placeOf(request, runs);
}

async function placeOf({ params }: FastifyRequest<ItemRoute>, runs: RunFolder): Promise<ItemPlace> {
  return { seq: seqOf(params.seq), dir: await runs.find(params.run) };
}
