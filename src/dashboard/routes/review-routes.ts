import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { LABEL_FILES, NEW_REVIEW, type Review } from '../api/reviews.ts';
import { bodyOf } from '../body.ts';
import { DashboardError } from '../errors.ts';
import type { LiveEvents } from '../events/live-events.ts';
import { labelFile } from '../reviews/label-files.ts';
import { type ItemRoute, noSuchItem, seqOf, whileOpen } from './item-request.ts';
import type { ItemParts } from './item-routes.ts';

interface LabelRoute {
  Params: { run: string; file: string };
}

export interface ReviewParts extends ItemParts {
  readonly events: Pick<LiveEvents, 'reviewed'>;
}

/** What people decide on items, and files of it. A restricted item can be reviewed too: that shows nothing of it. */
export function addReviewRoutes(app: FastifyInstance, { runs, indexes, events }: ReviewParts): void {
  app.post<ItemRoute>('/api/runs/:run/items/:seq/reviews', async (request, reply): Promise<Review> => {
    const seq = seqOf(request.params.seq);
    const review = bodyOf(NEW_REVIEW, request.body);
    const dir = await runs.findOwn(request.params.run);
    const signal = whileOpen(reply);
    const { index, release } = await indexes.patientLease(dir, signal);
    try {
      const item = await index.item(seq, signal);
      if (item === null) throw noSuchItem();
      const { line, restricted_by: restrictedBy } = item;
      if (restrictedBy !== null && review.decision !== null && review.note.trim() === '') {
        throw new DashboardError('INVALID_REQUEST', 'a restricted item is decided with a note', 'note');
      }
      const added = await index.reviews.add(line, review, request.session?.reviewer ?? null);
      events.reviewed({ run: request.params.run, review: added, progress: index.reviews.progress });
      return added;
    } finally {
      release();
    }
  });

  app.get<LabelRoute>('/api/runs/:run/labels/:file', async (request, reply) => {
    const file = LABEL_FILES.find((name) => name === request.params.file);
    if (file === undefined) throw new DashboardError('NOT_FOUND', 'there is no such file');
    const dir = await runs.find(request.params.run);
    const signal = whileOpen(reply);
    const { index, release } = await indexes.patientLease(dir, signal);
    signal.addEventListener('abort', release, { once: true });
    signal.throwIfAborted();
    const restrictions = await index.currentRestrictions(signal);
    const { lines, reviews } = index;
    return reply
      .type(file === 'labels.jsonl' ? 'application/jsonl' : 'application/json')
      .header('content-disposition', `attachment; filename="${file}"`)
      .send(Readable.from(labelFile(file, { lines, reviews, restrictions }, signal)));
  });
}
