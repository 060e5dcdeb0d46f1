import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { ItemContent } from '../api/items.ts';
import type { ApiFailure } from '../api/runs.ts';
import { bodyOf } from '../body.ts';
import type { ItemContents, Viewer } from '../content/item-contents.ts';
import type { RunFolder } from '../runs/run-folder.ts';
import { type ItemRoute, noSuchItem, seqOf, whileOpen } from './item-request.ts';

export interface ContentParts {
  readonly runs: RunFolder;
  readonly contents: ItemContents;
}

const NOTHING = z.strictObject({}).optional();

/** Whatever it is opened with, it must not run as a page. */
const ONLY_SHOWN = { 'content-security-policy': "default-src 'none'; sandbox" };

/** `content` and `media` of an item. They are POST because every answer is logged as a reveal. */
export function addContentRoutes(app: FastifyInstance, { runs, contents }: ContentParts): void {
  app.post<ItemRoute>('/api/runs/:run/items/:seq/content', async (request, reply): Promise<ItemContent> => {
    const { dir, seq } = await itemOf(request, runs);
    const content = await contents.content(dir, seq, viewerOf(request, reply));
    if (content === null) throw noSuchItem();
    reply.headers(ONLY_SHOWN).header('content-disposition', 'inline');
    return content;
  });

  app.post<ItemRoute>('/api/runs/:run/items/:seq/media', async (request, reply) => {
    const { dir, seq } = await itemOf(request, runs);
    const media = await contents.media(dir, seq, viewerOf(request, reply));
    if (media === null) throw noSuchItem();
    reply.headers(ONLY_SHOWN);
    if ('kind' in media) {
      const { reason: code, message } = media;
      return reply.code(409).send({ error: { code, message } } satisfies ApiFailure);
    }
    const name = media.type === 'image/png' ? 'item.png' : 'item.wav';
    return reply
      .type(media.type)
      .header('content-disposition', `inline; filename="${name}"`)
      .send(media.bytes);
  });
}

function viewerOf({ session }: FastifyRequest<ItemRoute>, reply: FastifyReply): Viewer {
  return { client: whileOpen(reply), reviewer: session?.reviewer ?? null };
}

async function itemOf(
  { params, body }: FastifyRequest<ItemRoute>,
  runs: RunFolder,
): Promise<{ readonly dir: string; readonly seq: number }> {
  bodyOf(NOTHING, body);
  return { seq: seqOf(params.seq), dir: await runs.find(params.run) };
}
