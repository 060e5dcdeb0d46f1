import { z } from 'zod';
import { ITEM_CODES } from '../../domain/item-error.ts';
import { DECISIONS, type Decision, type OutcomeLine } from '../../domain/outcome.ts';
import { MODALITIES } from '../../domain/request.ts';
import {
  CATEGORY_KEYS,
  type CategoryKey,
  type CategoryName,
  isCategoryName,
  MAX_FOREIGN_CATEGORIES,
} from '../../domain/taxonomy.ts';
import type { CurrentReview, Release, Review } from './reviews.ts';

const share = z.number().min(0).max(1);

/** Maximum items found by a search in texts. */
export const MAX_HITS = 1000;

/** Filter for the items of a run. Each list selects items with any of its values; an empty list selects all. */
export const ITEM_FILTER = z.strictObject({
  /** `error` selects items that were not judged. */
  decisions: z
    .array(z.enum([...DECISIONS, 'error']))
    .max(4)
    .default([]),
  /** Selects items flagged for any of these; `none` selects review or block without a flagged category. */
  categories: z
    .array(z.enum([...CATEGORY_KEYS, 'other', 'none']))
    .max(15)
    .default([]),
  modalities: z.array(z.enum(MODALITIES)).max(3).default([]),
  /** Corpora as listed in `Facets`. */
  corpora: z.array(z.string().max(4096)).max(100).default([]),
  errorCodes: z.array(z.enum(ITEM_CODES)).max(ITEM_CODES.length).default([]),
  minScore: share.nullable().default(null),
  maxScore: share.nullable().default(null),
  /** Part of an id or a path, ignoring case. */
  search: z.string().max(200).default(''),
  /** `open` includes `reopened`, items that the run decides more severely than the one in which they were reviewed. */
  review: z.enum(['any', 'open', 'reopened', 'agreed', 'overturned']).default('any'),
  /** Only items with content that the previous run did not have. */
  fresh: z.boolean().default(false),
  /** Only these items, such as the hits of a text search; null for all. */
  seqs: z.array(z.int().min(0)).max(MAX_HITS).nullable().default(null),
});

export type ItemFilter = z.output<typeof ITEM_FILTER>;

export const ITEM_SORTS = ['open', 'severity', 'uncertainty', 'score_up', 'latency', 'corpus'] as const;

/** Body of `POST /api/runs/:run/items`. */
export const ITEM_QUERY = z.strictObject({
  filter: ITEM_FILTER.prefault({}),
  /**
   * `open`: items without a review, then the others, each sorted as in `severity`; `severity`: decision, then score,
   * highest first; `uncertainty`: score nearest to 0.5 first; `score_up`: lowest score first; `latency`: slowest first;
   * `corpus`: corpus order.
   */
  sort: z.enum(ITEM_SORTS).default('severity'),
  offset: z.int().min(0).default(0),
  limit: z.int().min(1).max(500).default(100),
});

export type ItemQuery = z.input<typeof ITEM_QUERY>;

/** Body of `POST /api/runs/:run/text-search`: a string to find in the texts of the items that pass a filter. */
export const TEXT_SEARCH = z.strictObject({
  /** String to match literally, ignoring case. */
  text: z.string().min(2).max(200),
  filter: ITEM_FILTER.prefault({}),
  /** First item to search. */
  from: z.int().min(0).default(0),
});

export type TextSearch = z.input<typeof TEXT_SEARCH>;

/** Hits of a text search, which skips restricted items. */
export interface TextHits {
  /** Number of items whose texts were searched, in corpus order. */
  readonly searched: number;
  readonly seqs: readonly number[];
  /**
   * First item not searched because there were too many hits or the search took too long; null if everything was
   * searched.
   */
  readonly next: number | null;
}

/** An item as a row of the review list. */
export interface ItemRow {
  readonly seq: number;
  readonly id: string;
  readonly path: string;
  readonly row: number | null;
  readonly part: string | null;
  readonly turn: number | null;
  readonly modality: OutcomeLine['modality'];
  readonly request_type: OutcomeLine['request_type'];
  readonly decision: Decision | null;
  readonly score: number | null;
  /** Flagged categories, most probable first. */
  readonly categories: readonly string[];
  readonly error_code: string | null;
  /** Whether its content is hidden. */
  readonly restricted: boolean;
  /** The valid review, from this run or another; null if there is none. */
  readonly review: CurrentReview | null;
  /** Number of reviews of its content, including those taken back; also the number of the last one. */
  readonly reviews: number;
}

export interface ItemPage {
  /** Number of items that pass the filter. */
  readonly total: number;
  readonly offset: number;
  readonly rows: readonly ItemRow[];
}

/**
 * Number of items by each value that can be filtered, each count with all other filters applied. Body of the request:
 * an `ItemFilter`.
 */
export interface Facets {
  readonly total: number;
  readonly decisions: Readonly<Record<Decision | 'error', number>>;
  readonly categories: Readonly<Record<string, number>>;
  readonly modalities: Readonly<Record<string, number>>;
  /** The 100 largest corpora. */
  readonly corpora: readonly { readonly corpus: string; readonly items: number }[];
  readonly error_codes: Readonly<Record<string, number>>;
  /** `open` does not include the reopened items. */
  readonly reviews: Readonly<Record<'open' | 'reopened' | 'agreed' | 'overturned', number>>;
  /** Items with content that the previous run did not have; null if there is no previous run. */
  readonly fresh: number | null;
  /** Items by score, in 50 bins of 0.02. */
  readonly scores: readonly number[];
}

/** `GET /api/runs/:run/items/:seq`: the full record of an item, without its snippet and content. */
export interface ItemDetail {
  readonly line: OutcomeLine;
  /** `decided_by` in words. */
  readonly decided_by_in_words: string | null;
  readonly restricted: boolean;
  /** Category that restricts the item. */
  readonly restricted_by: CategoryKey | null;
  /** Whether the client may release the item. */
  readonly may_release: boolean;
  /** Release of its content; null if it was not released. */
  readonly released: Release | null;
  /** All reviews of its content, oldest first. */
  readonly reviews: readonly Review[];
  /** The valid review; null if there is none. */
  readonly review: CurrentReview | null;
  /** Number of other items with the same content, to which the same decision applies. */
  readonly copies: number;
  /** For a turn of a conversation, the first turn that was not allowed; null if there is none. */
  readonly tipped_by: { readonly turn: number; readonly seq: number } | null;
}

/** Answer to `POST /api/runs/:run/items/:seq/content`; every answer with content is logged as a reveal. */
export type ItemContent =
  | {
      readonly kind: 'text';
      readonly text: string;
      readonly marked: MarkedSpan | null;
      readonly cut: boolean;
    }
  | {
      readonly kind: 'pair';
      readonly prompt: string;
      readonly response: string;
      readonly marked: MarkedSpan | null;
      readonly cut: boolean;
    }
  | {
      readonly kind: 'conversation';
      readonly turns: readonly { readonly role: string; readonly text: string }[];
      /**
       * Position of the first of `turns` in the conversation, from 1. Earlier turns of a long conversation are omitted.
       */
      readonly first_turn: number;
      /** Position of the turn that the verdict is about, or that tipped the conversation; null if unknown. */
      readonly tipped_at: number | null;
      readonly cut: boolean;
    }
  | {
      readonly kind: 'image';
      readonly width: number;
      readonly height: number;
      readonly caption: string | null;
    }
  | {
      readonly kind: 'audio';
      /** Length of the playable audio in seconds. For a longer clip, only the window that decided can be played. */
      readonly seconds: number;
      /** Loudest sample in each of up to 600 equal parts, 0 … 1. */
      readonly peaks: readonly number[];
      readonly transcript: string | null;
      /** Start of that window in the clip, in seconds; null if the clip was judged as a whole. */
      readonly worst_at: number | null;
      /** Length of the clip in seconds. */
      readonly clip_seconds: number;
    }
  /** Reason why there is nothing to show. */
  | { readonly kind: 'unavailable'; readonly reason: ContentProblem; readonly message: string };

/**
 * Body of `POST /api/runs/:run/items/:seq/thumbnail`. A revealed one is logged as a reveal; others are heavily blurred.
 */
export const THUMBNAIL = z.strictObject({ revealed: z.boolean().default(false) });

/** The part of the text, or of the response of a pair, that decided, in UTF-16 code units. */
export interface MarkedSpan {
  readonly from: number;
  readonly to: number;
}

export type ContentProblem =
  | 'restricted'
  | 'not_your_run'
  | 'outside_root'
  | 'source_missing'
  | 'source_changed'
  | 'not_readable'
  | 'decoding_failed';

/** Thresholds for `default`, our categories, and those of other taxonomies. */
const MAX_THRESHOLDS = 1 + CATEGORY_KEYS.length + MAX_FOREIGN_CATEGORIES;

/** Body of `POST /api/runs/:run/thresholds`. Thresholds that are not named keep the values of the run's policy. */
export const THRESHOLD_QUERY = z.strictObject({
  thresholds: z
    .partialRecord(
      z.custom<CategoryName | 'default'>((key) => key === 'default' || isCategoryName(String(key))),
      z.strictObject({ review: share.nullable(), block: share.nullable() }),
    )
    .refine((thresholds) => Object.keys(thresholds).length <= MAX_THRESHOLDS),
});

export type ThresholdQuery = z.input<typeof THRESHOLD_QUERY>;

/** Effect of other thresholds on the decisions on all verdicts of the run. */
export interface ThresholdEffect {
  readonly now: Readonly<Record<Decision, number>>;
  readonly then: Readonly<Record<Decision, number>>;
  /** Number of items that move from one decision to another, without those that stay. */
  readonly changes: readonly { readonly from: Decision; readonly to: Decision; readonly items: number }[];
  /** Verdicts without a score for a category that has a threshold, so the change may be larger. */
  readonly unknown: number;
}

/** `GET /api/runs/:run/scores`: the distribution of scores, for the sliders, in 100 bins of 0.01. */
export interface ScoreHistograms {
  readonly score: readonly number[];
  readonly categories: Readonly<Partial<Record<CategoryName, readonly number[]>>>;
}
