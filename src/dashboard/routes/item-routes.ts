import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { SEXUAL } from '../../domain/restriction/restriction.ts';
import { describeRule } from '../../domain/words/decided-by-words.ts';
import { ITEM_FILTER, ITEM_QUERY, type ItemDetail, THRESHOLD_QUERY } from '../api/items.ts';
import { currentReview } from '../../record/reviews/review.ts';
import { parseRequestBody } from '../body.ts';
import { conversationTip } from '../index/conversation-tip.ts';
import type { RunIndex } from '../index/run-index.ts';
import type { RunIndexes } from '../index/run-indexes.ts';
import { toFix } from '../runs/to-fix.ts';
import type { RunFolder } from '../runs/run-folder.ts';
import { type ItemRoute, noSuchItem, seqOf, clientAbortSignal } from './item-request.ts';

export interface ItemParts {
  readonly runs: RunFolder;
  readonly indexes: RunIndexes;
}

interface RunRoute {
  Params: { run: string };
}

/** Routes for the review list of a run: its items, counts for its filters, and the effect of other thresholds. */
export function addItemRoutes(app: FastifyInstance, { runs, indexes }: ItemParts): void {
  const answer = async <T>(
    { params }: FastifyRequest<RunRoute>,
    reply: FastifyReply,
    query: (index: RunIndex, signal: AbortSignal, dir: string) => Promise<T>,
  ): Promise<T> => {
    const dir = await runs.find(params.run);
    const signal = clientAbortSignal(reply);
    return indexes.use(dir, signal, (index) => query(index, signal, dir));
  };

  app.post<RunRoute>('/api/runs/:run/items', (request, reply) => {
    const query = parseRequestBody(ITEM_QUERY, request.body ?? {});
    return answer(request, reply, (index, signal) => index.page(query, signal));
  });

  app.post<RunRoute>('/api/runs/:run/facets', (request, reply) => {
    const filter = parseRequestBody(ITEM_FILTER, request.body ?? {});
    return answer(request, reply, (index, signal) => index.facets(filter, signal));
  });

  app.post<RunRoute>('/api/runs/:run/thresholds', (request, reply) => {
    const query = parseRequestBody(THRESHOLD_QUERY, request.body);
    return answer(request, reply, (index, signal) => index.thresholds(query, signal));
  });

  app.get<RunRoute>('/api/runs/:run/scores', (request, reply) =>
    answer(request, reply, (index, signal) => index.scores(signal)),
  );

  app.get<RunRoute>('/api/runs/:run/to-fix', (request, reply) =>
    answer(request, reply, (index, signal, dir) => toFix(index, dir, signal)),
  );

  app.get<RunRoute>('/api/runs/:run/reviews', (request, reply) =>
    answer(request, reply, (index, signal) => index.progress(signal)),
  );

  app.get<ItemRoute>('/api/runs/:run/items/:seq', (request, reply) => {
    const seq = seqOf(request.params.seq);
    return answer(request, reply, (index, signal) => detailOf(index, seq, request.mayRelease, signal));
  });
}

async function detailOf(
  index: RunIndex,
  seq: number,
  mayRelease: boolean,
  signal: AbortSignal,
): Promise<ItemDetail> {
  const item = await index.item(seq, signal);
  if (item === null) throw noSuchItem();
  const { line, reviews, restricted_by } = item;
  return {
    // Content is shown only by its own route, which logs every view.
    line: { ...line, snippet: null },
    decided_by_in_words: line.decision === null ? null : describeRule(line.decided_by),
    restricted: restricted_by !== null,
    restricted_by,
    may_release: mayRelease && restricted_by === SEXUAL,
    released: index.reviews.releaseOf(line.run, line.content_sha256),
    reviews,
    review: currentReview(reviews, line),
    tipped_by: await conversationTip(index.lines, line, signal),
    copies: (await index.copiesOf(line, signal)).length,
  };
}
