import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { SEXUAL } from '../../domain/restriction/restriction.ts';
import type { ItemContent } from '../api/items.ts';
import {
  NEW_RELEASE,
  NEW_REVIEW,
  NEW_REVIEWS,
  type SavedReview,
  type SavedReviews,
  type SavedWithCopies,
} from '../api/reviews.ts';
import { decisionKey } from '../../record/reviews/review.ts';
import { parseRequestBody } from '../body.ts';
import { DashboardError } from '../errors.ts';
import { labelled, labelsJsonl, labelStudioJson } from '../reviews/label-files.ts';
import { userOfProcess } from '../../runs/trust/append-entry.ts';
import { ReviewedMeanwhile } from '../reviews/reviews.ts';
import { type ItemRoute, noSuchItem, seqOf, clientAbortSignal } from './item-request.ts';
import { type ContentParts, NOTHING, ONLY_SHOWN, viewerOf } from './content-routes.ts';

interface RunRoute {
  Params: { run: string };
}

interface Released {
  readonly released: number;
}

const NO_RIGHT = new DashboardError(
  'FORBIDDEN',
  'only someone logged in with the token in GUARDSWEEP_RELEASE_TOKEN may release items',
);

const NOT_RELEASED = new DashboardError(
  'CONFLICT',
  'only an item that is restricted for Sexual Content can be released',
);

const NO_NAME = new DashboardError('CONFLICT', 'give your name first: what you decide carries it');

/** Name under which a decision is logged; null for a program, which is logged as the user of this process. */
function reviewerOf({ session }: Pick<FastifyRequest, 'session'>): string | null {
  if (session?.reviewer === null) throw NO_NAME;
  return session?.reviewer ?? null;
}

/** Routes for reviews of items, and for label files. A restricted item can be reviewed too, without being shown. */
export function addReviewRoutes(app: FastifyInstance, { runs, indexes, contents }: ContentParts): void {
  app.post<ItemRoute>(
    '/api/runs/:run/items/:seq/reviews',
    async (request, reply): Promise<SavedWithCopies> => {
      const seq = seqOf(request.params.seq);
      const review = parseRequestBody(NEW_REVIEW, request.body);
      const reviewer = reviewerOf(request);
      const dir = await runs.findOwn(request.params.run);
      const signal = clientAbortSignal(reply);
      return indexes.use(dir, signal, async (index) => {
        const item = await index.item(seq, signal);
        if (item === null) throw noSuchItem();
        const { line, restricted_by: restrictedBy } = item;
        if (restrictedBy !== null && review.decision !== null && review.note.trim() === '') {
          throw new DashboardError('INVALID_REQUEST', 'a restricted item is decided with a note', 'note');
        }
        const added = await index.reviews.add(dir, line, review, reviewer);
        return { ...added, copies: await index.copiesOf(line, signal) };
      });
    },
  );

  app.post<ItemRoute>('/api/runs/:run/items/:seq/release', async (request, reply): Promise<Released> => {
    const seq = seqOf(request.params.seq);
    const { note } = parseRequestBody(NEW_RELEASE, request.body);
    const dir = await runs.findOwn(request.params.run);
    if (!request.mayRelease) throw NO_RIGHT;
    const reviewer = reviewerOf(request);
    const signal = clientAbortSignal(reply);
    return indexes.use(dir, signal, async (index) => {
      const item = await index.item(seq, signal);
      if (item === null) throw noSuchItem();
      if (item.restricted_by !== SEXUAL) throw NOT_RELEASED;
      await index.reviews.release(dir, item.line, note.trim(), reviewer);
      return { released: seq };
    });
  });

  app.post<RunRoute>('/api/runs/:run/reviews', async (request, reply): Promise<SavedReviews> => {
    const { items, note } = parseRequestBody(NEW_REVIEWS, request.body);
    const reviewer = reviewerOf(request);
    const by = reviewer ?? userOfProcess();
    const dir = await runs.findOwn(request.params.run);
    const signal = clientAbortSignal(reply);
    const saved: SavedReview[] = [];
    const left: number[] = [];
    /** Keys of content that this request has already decided. */
    const covered = new Set<string>();
    await indexes.use(dir, signal, async (index) => {
      try {
        for (const { seq, ...said } of items) {
          const item = await index.item(seq, signal);
          if (item === null) throw noSuchItem();
          const { line } = item;
          if (covered.has(decisionKey(line))) {
            saved.push(index.reviews.newest(line)!);
            continue;
          }
          // Restricted items need a decision of their own with a note, so they are not decided in bulk.
          if (item.restricted_by !== null && said.decision !== null) {
            left.push(seq);
            continue;
          }
          const review = { ...said, note, categories: null };
          const added = await index.reviews.add(dir, line, review, reviewer).catch((error: unknown) => {
            if (!(error instanceof ReviewedMeanwhile)) throw error;
            // An earlier request may have decided a copy of the item, and thereby the item.
            const newest = index.reviews.newest(line)!;
            const isSaid = newest.by === by && newest.decision === said.decision && newest.note === note;
            return isSaid ? newest : null;
          });
          if (added === null) {
            left.push(seq);
            continue;
          }
          saved.push(added);
          covered.add(decisionKey(line));
        }
      } catch (error) {
        if (saved.length === 0) throw error;
      }
    });
    return { saved, left };
  });

  app.get<RunRoute>('/api/runs/:run/labels/labels.jsonl', async ({ params }, reply) => {
    const dir = await runs.find(params.run);
    const signal = clientAbortSignal(reply);
    reply.type('application/jsonl').header('content-disposition', 'attachment; filename="labels.jsonl"');
    return indexes.use(dir, signal, async (index) => {
      await reply.send(Readable.from(labelsJsonl(await labelled(index, signal), signal)));
      return reply;
    });
  });

  // POST because it returns content, which is logged.
  app.post<RunRoute>('/api/runs/:run/labels/label-studio.json', async (request, reply) => {
    parseRequestBody(NOTHING, request.body);
    const dir = await runs.find(request.params.run);
    const viewer = viewerOf(request, reply);
    const signal = viewer.client;
    return indexes.use(dir, signal, async (index) => {
      const contentOf = (seq: number): Promise<ItemContent | null> => contents.content(dir, seq, viewer);
      const tasks = labelStudioJson(await labelled(index, signal), contentOf, signal);
      await reply.type('application/json').headers(ONLY_SHOWN).send(Readable.from(tasks));
      return reply;
    });
  });
}
