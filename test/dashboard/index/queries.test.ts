import { hash } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ITEM_FILTER, ITEM_QUERY, ITEM_SORTS, type ItemFilter } from '../../../src/dashboard/api/items.ts';
import type { RunIndex } from '../../../src/dashboard/index/run-index.ts';
import { ITEM_CODES } from '../../../src/domain/item-error.ts';
import { type Decision, DECISIONS, type OutcomeLine } from '../../../src/domain/outcome.ts';
import { type DecidedItem, decisionKey } from '../../../src/record/reviews/review.ts';
import { DEFAULT_POLICY } from '../../../src/domain/policy.ts';
import { MODALITIES } from '../../../src/domain/request.ts';
import { CATEGORY_KEYS, isCategoryKey } from '../../../src/domain/taxonomy.ts';
import { random, rounds } from '../../helpers/corpus.ts';
import { indexed, RUN, signal, ODD_TEXTS, randomOutcomes, severityOf } from './indexed.ts';

const SEED = Number(process.env['SEED'] ?? Date.now() % 1e6);

const OUTCOMES = [...DECISIONS, 'error'] as const;
const DIMENSIONS = [
  ...(['decisions', 'categories', 'modalities', 'corpora', 'errorCodes', 'review', 'score'] as const),
];

type Dimension = (typeof DIMENSIONS)[number] | 'search';

/** The keys by which the category filter finds an item. */
function categoriesOf({ decision, subcategory_flags }: OutcomeLine): string[] {
  const flags = subcategory_flags ?? [];
  const keys: string[] = CATEGORY_KEYS.filter((key) => flags.includes(key));
  if (flags.some((key) => !isCategoryKey(key))) keys.push('other');
  if (flags.length === 0 && (decision === 'review' || decision === 'block')) keys.push('none');
  return keys;
}

/** Halves of surrogate pairs are not text. */
const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, '\ufffd').toLowerCase();

/** The same as the index, in plain JavaScript. */
class Model {
  readonly lines: readonly OutcomeLine[];
  /** What people decided on a content, each on a decision of a run. */
  readonly reviews = new Map<string, { readonly decision: Decision; readonly on: Decision | null }[]>();

  constructor(lines: readonly OutcomeLine[]) {
    this.lines = lines;
  }

  decide(item: DecidedItem, on: Decision | null, decision: Decision): void {
    const key = decisionKey(item);
    this.reviews.set(key, [...(this.reviews.get(key) ?? []), { decision, on }]);
  }

  reviewOf(line: OutcomeLine): string {
    const made = this.reviews.get(decisionKey(line));
    if (made === undefined) return 'open';
    const { decision } = made.at(-1)!;
    const seen = [decision, ...made.map(({ on }) => on)].map((each) => DECISIONS.indexOf(each ?? 'allow'));
    if (severityOf(line) > Math.max(...seen)) return 'reopened';
    return decision === line.decision ? 'agreed' : 'overturned';
  }

  holds(line: OutcomeLine, filter: ItemFilter, dimension: Dimension): boolean {
    const any = <T>(list: readonly T[], value: T): boolean => list.length === 0 || list.includes(value);
    switch (dimension) {
      case 'decisions':
        return any<string>(filter.decisions, line.decision ?? 'error');
      case 'categories':
        if (filter.categories.length === 0) return true;
        return categoriesOf(line).some((key) => any<string>(filter.categories, key));
      case 'modalities':
        return any<string | null>(filter.modalities, line.modality);
      case 'corpora':
        return any(filter.corpora, corpusOf(line));
      case 'errorCodes':
        return any<string | undefined>(filter.errorCodes, line.error?.code);
      case 'review':
        if (filter.review === 'open') return ['open', 'reopened'].includes(this.reviewOf(line));
        return filter.review === 'any' || filter.review === this.reviewOf(line);
      case 'score':
        if (line.score === null) return filter.minScore === null && filter.maxScore === null;
        return line.score >= (filter.minScore ?? 0) && line.score <= (filter.maxScore ?? 1);
      case 'search': {
        const needle = wellFormed(filter.search);
        return wellFormed(line.id).includes(needle) || wellFormed(line.source.path).includes(needle);
      }
    }
  }

  found(filter: ItemFilter, except: Dimension | null = null): OutcomeLine[] {
    const by = [...DIMENSIONS, 'search' as const].filter((dimension) => dimension !== except);
    return this.lines.filter((line) => by.every((dimension) => this.holds(line, filter, dimension)));
  }

  sorted(filter: ItemFilter, sort: (typeof ITEM_SORTS)[number]): number[] {
    const key = (line: OutcomeLine): number[] => {
      const { score } = line;
      const severity = [-severityOf(line), score === null ? 1 : -score];
      switch (sort) {
        case 'open':
          return [this.holds(line, { ...filter, review: 'open' }, 'review') ? 0 : 1, ...severity];
        case 'severity':
          return severity;
        case 'uncertainty':
          return [score === null ? 9 : Math.abs(score - 0.5)];
        case 'score_up':
          return [score ?? 9];
        case 'latency':
          return [line.latency_ms === null ? 1 : -line.latency_ms];
        case 'corpus':
          return [];
      }
    };
    return this.found(filter)
      .map((line) => [...key(line), line.seq])
      .sort((a, b) => a.map((value, index) => value - b[index]!).find((difference) => difference !== 0) ?? 0)
      .map((keys) => keys.at(-1)!);
  }

  /** How many of the items found are of each kind, also of those of `names` that none is of. */
  counts(
    filter: ItemFilter,
    except: Dimension,
    names: readonly string[],
    kindsOf: (line: OutcomeLine) => string | readonly string[],
  ): Record<string, number> {
    const counts = Object.fromEntries(names.map((name) => [name, 0]));
    for (const kind of this.found(filter, except).flatMap(kindsOf)) counts[kind] = (counts[kind] ?? 0) + 1;
    return counts;
  }
}

function corpusOf({ source }: OutcomeLine): string {
  return source.path.split('/')[0]!;
}

const share = fc.option(
  fc.integer({ min: 0, max: 20 }).map((value) => value / 20),
  { nil: null },
);

const SEARCHES = ['', '', 'comment-1', 'FILE3', "'; drop", 'половина', '\ud83d', '\u0000', '%', '$1', '\\'];
const REVIEWS = ['open', 'reopened', 'agreed', 'overturned'] as const;

const FILTER = fc
  .record(
    {
      decisions: fc.subarray([...OUTCOMES]),
      categories: fc.subarray([...CATEGORY_KEYS, 'other', 'none'] as const, { maxLength: 4 }),
      modalities: fc.subarray([...MODALITIES]),
      corpora: fc.subarray(['uploads', "o'brien", "x' OR '1'='1", ODD_TEXTS[0]!]),
      errorCodes: fc.subarray([...ITEM_CODES], { maxLength: 8 }),
      minScore: share,
      maxScore: share,
      search: fc.oneof(
        fc.constantFrom(...SEARCHES),
        fc.constantFrom(...ODD_TEXTS.map((text) => text.slice(0, 12))),
      ),
      review: fc.constantFrom('any', ...REVIEWS),
    },
    { requiredKeys: [] },
  )
  .map((filter) => ITEM_FILTER.parse(filter));

async function compare(index: RunIndex, model: Model): Promise<void> {
  const query = fc.record({
    filter: FILTER,
    sort: fc.constantFrom(...ITEM_SORTS),
    offset: fc.integer({ min: 0, max: 100 }),
    limit: fc.integer({ min: 1, max: 100 }),
  });
  await fc.assert(
    fc.asyncProperty(query, async (given) => {
      const { filter, sort, offset, limit } = ITEM_QUERY.parse(given);
      const page = await index.page({ filter, sort, offset, limit }, signal);
      const expected = model.sorted(filter, sort);
      expect(page.rows.map(({ seq }) => seq)).toEqual(expected.slice(offset, offset + limit));
      expect(page.total).toBe(expected.length);
      const { corpora, ...facets } = await index.facets(filter, signal);
      const scores = new Array<number>(50).fill(0);
      for (const { score } of model.found(filter, 'score')) {
        if (score !== null) scores[Math.min(49, Math.floor(score * 50))]!++;
      }
      expect(facets).toEqual({
        total: expected.length,
        fresh: null,
        decisions: model.counts(filter, 'decisions', OUTCOMES, ({ decision }) => decision ?? 'error'),
        categories: model.counts(filter, 'categories', [...CATEGORY_KEYS, 'other', 'none'], categoriesOf),
        modalities: model.counts(filter, 'modalities', MODALITIES, ({ modality }) => modality ?? []),
        reviews: model.counts(filter, 'review', REVIEWS, (line) => model.reviewOf(line)),
        error_codes: model.counts(filter, 'errorCodes', [], ({ error }) => error?.code ?? []),
        scores,
      });
      const byCorpus = Object.fromEntries(corpora.map(({ corpus, items }) => [corpus, items]));
      expect(byCorpus).toEqual(model.counts(filter, 'corpora', [], corpusOf));
    }),
    { seed: SEED, numRuns: rounds(60) },
  );
}

it(`finds, sorts and counts what plain lists would (SEED=${SEED})`, async () => {
  // Some contents are there several times, and some items have none.
  const contentOf = (seq: number): string | null =>
    seq % 4 === 0 ? null : hash('sha256', String(seq % 150));
  const made = randomOutcomes(400, random(SEED), DEFAULT_POLICY);
  const lines = made.map((line) => ({ ...line, run: RUN, content_sha256: contentOf(line.seq) }));
  const index = await indexed(lines);
  const model = new Model(lines);
  for (const line of lines.slice(0, 80)) {
    const decision = DECISIONS[line.seq % 3]!;
    // In every other run, the model said something else.
    const other = { run: 'other', decision: DECISIONS[line.seq % 2]! };
    const reviewed = line.seq % 3 === 0 ? line : { ...line, ...other };
    await index.reviews.add(index.runDir, reviewed, { decision, categories: null, note: '' });
    model.decide(reviewed, reviewed.decision, decision);
  }
  await compare(index, model);
});
