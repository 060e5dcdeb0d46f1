import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ITEM_FILTER, ITEM_QUERY, ITEM_SORTS, type ItemFilter } from '../../../src/dashboard/api/items.ts';
import type { RunIndex } from '../../../src/dashboard/index/run-index.ts';
import { ITEM_CODES } from '../../../src/domain/item-error.ts';
import type { OutcomeLine } from '../../../src/domain/outcome.ts';
import { DEFAULT_POLICY } from '../../../src/domain/policy.ts';
import { MODALITIES } from '../../../src/domain/request.ts';
import { CATEGORY_KEYS, isCategoryKey } from '../../../src/domain/taxonomy.ts';
import { random } from '../../helpers/corpus.ts';
import { indexed, RUN, signal } from './indexed.ts';
import { ODD_TEXTS, randomOutcomes, severityOf } from './outcomes.ts';
import { rounds } from '../../helpers/rounds.ts';

const SEED = Number(process.env['SEED'] ?? Date.now() % 1e6);

const DIMENSIONS = 'decisions categories modalities corpora errorCodes score search'.split(
  ' ',
) as Dimension[];

type Dimension = 'decisions' | 'categories' | 'modalities' | 'corpora' | 'errorCodes' | 'score' | 'search';

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

  constructor(lines: readonly OutcomeLine[]) {
    this.lines = lines;
  }

  holds(line: OutcomeLine, filter: ItemFilter, dimension: Dimension): boolean {
    const any = <T>(list: readonly T[], value: T): boolean => list.length === 0 || list.includes(value);
    switch (dimension) {
      case 'decisions':
        return any<string>(filter.decisions, line.decision ?? 'error');
      case 'categories':
        return (
          filter.categories.length === 0 ||
          categoriesOf(line).some((key) => any<string>(filter.categories, key))
        );
      case 'modalities':
        return any<string | null>(filter.modalities, line.modality);
      case 'corpora':
        return any(filter.corpora, corpusOf(line));
      case 'errorCodes':
        return any<string | undefined>(filter.errorCodes, line.error?.code);
      case 'score':
        return (
          (filter.minScore === null || (line.score !== null && line.score >= filter.minScore)) &&
          (filter.maxScore === null || (line.score !== null && line.score <= filter.maxScore))
        );
      case 'search': {
        const needle = wellFormed(filter.search);
        return wellFormed(line.id).includes(needle) || wellFormed(line.source.path).includes(needle);
      }
    }
  }

  found(filter: ItemFilter, except: Dimension | null = null): OutcomeLine[] {
    const by = DIMENSIONS.filter((dimension) => dimension !== except);
    return this.lines.filter((line) => by.every((dimension) => this.holds(line, filter, dimension)));
  }

  sorted(filter: ItemFilter, sort: (typeof ITEM_SORTS)[number]): number[] {
    const key = (line: OutcomeLine): number[] => {
      const score = line.score ?? null;
      switch (sort) {
        // Nothing has been reviewed.
        case 'open':
        case 'severity':
          return [-severityOf(line), score === null ? 1 : -score];
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
}

function corpusOf({ source }: OutcomeLine): string {
  return source.path.split('/')[0]!;
}

const share = fc.option(
  fc.integer({ min: 0, max: 20 }).map((value) => value / 20),
  { nil: null },
);

const FILTER = fc
  .record(
    {
      decisions: fc.subarray(['allow', 'review', 'block', 'error'] as const),
      categories: fc.subarray([...CATEGORY_KEYS, 'other', 'none'] as const, { maxLength: 4 }),
      modalities: fc.subarray([...MODALITIES]),
      corpora: fc.subarray(['uploads', "o'brien", "x' OR '1'='1", ODD_TEXTS[0]!]),
      errorCodes: fc.subarray([...ITEM_CODES], { maxLength: 8 }),
      minScore: share,
      maxScore: share,
      search: fc.oneof(
        fc.constantFrom('', '', 'comment-1', 'FILE3', "'; drop", '\ud83d', '\u0000', '%', '$1', '\\'),
        fc.constantFrom(...ODD_TEXTS.map((text) => text.slice(0, 12))),
      ),
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
      const facets = await index.facets(filter, signal);
      expect(facets.total).toBe(expected.length);
      const counts = (
        except: Dimension,
        names: readonly string[],
        of: (line: OutcomeLine) => readonly (string | null | undefined)[],
      ): Record<string, number> => {
        const found = model.found(filter, except).flatMap(of);
        return Object.fromEntries(names.map((name) => [name, found.filter((one) => one === name).length]));
      };
      const some = (all: Record<string, number>) =>
        Object.fromEntries(Object.entries(all).filter(([, items]) => items > 0));
      const decisions = ['allow', 'review', 'block', 'error'];
      const categories = [...CATEGORY_KEYS, 'other', 'none'];
      const corpora = facets.corpora.map(({ corpus, items }) => [corpus, items] as const);
      expect({ ...facets, corpora: Object.fromEntries(corpora) }).toMatchObject({
        decisions: counts('decisions', decisions, ({ decision }) => [decision ?? 'error']),
        categories: counts('categories', categories, categoriesOf),
        modalities: counts('modalities', MODALITIES, ({ modality }) => [modality]),
      });
      expect(facets.error_codes).toEqual(
        some(counts('errorCodes', ITEM_CODES, ({ error }) => [error?.code])),
      );
      expect(Object.fromEntries(corpora)).toEqual(
        some(counts('corpora', ['uploads', 'Chats', "o'brien"], (line) => [corpusOf(line)])),
      );
      const bins = new Array<number>(50).fill(0);
      for (const { score } of model.found(filter, 'score')) {
        if (score !== null) bins[Math.min(49, Math.floor(score * 50))]!++;
      }
      expect(facets.scores).toEqual(bins);
    }),
    { seed: SEED, numRuns: rounds(60) },
  );
}

it(`finds, sorts and counts what plain lists would (SEED=${SEED})`, async () => {
  const lines = randomOutcomes(400, random(SEED), DEFAULT_POLICY).map((line) => ({ ...line, run: RUN }));
  await compare(await indexed(lines), new Model(lines));
});
