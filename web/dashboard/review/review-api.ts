import type {
  Facets,
  ItemContent,
  ItemDetail,
  ItemFilter,
  ItemPage,
  ItemQuery,
  ScoreHistograms,
  TextHits,
  TextSearch,
  ThresholdEffect,
  ThresholdQuery,
} from '../../../src/dashboard/api/items.ts';
import type {
  NewReview,
  NewReviews,
  SavedReviews,
  SavedWithCopies,
} from '../../../src/dashboard/api/reviews.ts';
import { ApiError, request, requestJson } from '../api/http.ts';
import { runApi } from '../api/runs.ts';

/** The requests of the review pages. Search texts travel in bodies, never in URLs. */

const post = <T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> =>
  requestJson<T>(path, { method: 'POST', body, signal });

export const fetchItems = (run: string, query: ItemQuery, signal: AbortSignal): Promise<ItemPage> =>
  post(runApi(run, '/items'), query, signal);

export const fetchFacets = (run: string, filter: ItemFilter, signal: AbortSignal): Promise<Facets> =>
  post(runApi(run, '/facets'), filter, signal);

export const fetchScores = (run: string, signal: AbortSignal): Promise<ScoreHistograms> =>
  requestJson(runApi(run, '/scores'), { signal });

export const fetchEffect = (
  run: string,
  query: ThresholdQuery,
  signal: AbortSignal,
): Promise<ThresholdEffect> => post(runApi(run, '/thresholds'), query, signal);

export const fetchDetail = (run: string, seq: number, signal?: AbortSignal): Promise<ItemDetail> =>
  requestJson(runApi(run, `/items/${seq}`), { signal });

export const postReview = (run: string, seq: number, review: NewReview): Promise<SavedWithCopies> =>
  post(runApi(run, `/items/${seq}/reviews`), review);

/** Releases an item that is restricted for Sexual Content. */
export const postRelease = (run: string, seq: number, note: string): Promise<unknown> =>
  post(runApi(run, `/items/${seq}/release`), { note });

/** Decides on many items. */
export const postReviews = (run: string, reviews: NewReviews): Promise<SavedReviews> =>
  post(runApi(run, '/reviews'), reviews);

/** Reads the content of an item; the server logs that it was revealed. */
export const revealContent = (run: string, seq: number, signal: AbortSignal): Promise<ItemContent> =>
  post(runApi(run, `/items/${seq}/content`), {}, signal);

/** Searches the texts of the items that pass a filter. The server logs the search, but not its text. */
export const searchTexts = (run: string, search: TextSearch, signal: AbortSignal): Promise<TextHits> =>
  post(runApi(run, '/text-search'), search, signal);

const postForBlob = async (path: string, body: unknown, signal: AbortSignal): Promise<Blob> =>
  (await request(path, { method: 'POST', body, signal })).blob();

/** Fetches the image or the audio clip of an item. */
export const fetchMedia = (run: string, seq: number, signal: AbortSignal): Promise<Blob> =>
  postForBlob(runApi(run, `/items/${seq}/media`), {}, signal);

/** Fetches a thumbnail of an image: revealed, which the server logs, or strongly blurred. */
export const fetchThumbnail = (
  run: string,
  seq: number,
  revealed: boolean,
  signal: AbortSignal,
): Promise<Blob> => postForBlob(runApi(run, `/items/${seq}/thumbnail`), { revealed }, signal);

/** The message for a failed request. Rethrows errors that did not come from the server. */
export function apiErrorMessage(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  throw error;
}
