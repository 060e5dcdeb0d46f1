import { createHmac, randomBytes } from 'node:crypto';
import { isCategoryName } from '../../domain/taxonomy.ts';
import { isSkipReason } from '../../ingest/discover/walk/skipped-files.ts';
import { helpWith, OTHER_FILES } from '../../domain/words/file-kinds.ts';
import type { ReportData, ReportItem } from './report-data.ts';

/** Hex digits of a token: enough for some hundred names without a collision. */
const TOKEN_DIGITS = 10;

/**
 * A report that can be shown to others. Paths, ids and names become tokens: equal ones get the same token within a report,
 * and other tokens in the next, so that nobody can look them up or join two reports. Hosts, messages, hashes of content, of
 * files and of the record, and links are left out. Numbers, times, positions and the fingerprints of models stay.
 */
export function sharedReport(data: ReportData): ReportData {
  const salt = randomBytes(32);
  const token = (kind: string, value: string): string => {
    const mac = createHmac('sha256', salt).update(`${kind}\n${value}`).digest('hex');
    return `${kind}-${mac.slice(0, TOKEN_DIGITS)}`;
  };
  const category = (key: string): string => (isCategoryName(key) ? key : token('category', key));
  const item = (each: ReportItem): ReportItem => ({
    ...each,
    id: token('id', each.id),
    path: token('path', each.path),
    part: null,
    categories: each.categories.map(category),
    decidedBy: each.categories.every(isCategoryName) ? each.decidedBy : null,
    error: null,
    file: null,
  });
  const endpoint = <Guard extends { readonly endpoint: string }>(guard: Guard): Guard => ({
    ...guard,
    endpoint: guard.endpoint.startsWith('embedded:') ? 'embedded:' : token('guard', guard.endpoint),
  });
  const { summary, previous } = data;
  const byCategory = (counts: Readonly<Record<string, number>>): Record<string, number> =>
    Object.fromEntries(Object.entries(counts).map(([key, count]) => [category(key), count]));
  return {
    ...data,
    run: token('run', data.run),
    name: token('name', data.name),
    dir: null,
    again: null,
    manifestSha256: null,
    summary: {
      ...summary,
      run: token('run', data.run),
      dir: '',
      chain_head: '',
      by_category: byCategory(summary.by_category),
      unsupported_files: joined(summary.unsupported_files, (kind) => helpWith(kind) !== null, OTHER_FILES),
      guards: summary.guards.map(endpoint),
      skipped: joined(summary.skipped, isSkipReason, 'other files'),
      tables: [],
      fitted_headers: [],
      without_header: [],
      other_encodings: [],
      empty_sources: { count: summary.empty_sources.count, paths: [] },
    },
    categories: data.categories.map((row) => ({
      ...row,
      category: row.category === null ? null : category(row.category),
    })),
    corpora: data.corpora.map((row) => ({
      ...row,
      name: row.name === null ? null : token('corpus', row.name),
    })),
    canaryChecks: data.canaryChecks.map(endpoint),
    errors: data.errors.map((row) => ({ ...row, examples: row.examples.map(item) })),
    toFix: data.toFix.map((row) => ({ ...row, item: item(row.item) })),
    guards: data.guards.map(endpoint),
    severe: data.severe.map(item),
    uncertain: data.uncertain.map(item),
    slow: data.slow.map(item),
    files: [],
    previous: previous && {
      ...previous,
      run: token('run', previous.run),
      counts: { ...previous.counts, by_category: byCategory(previous.counts.by_category) },
    },
  };
}

/** Counts whose names are not of a known kind, under one name. */
function joined(
  counts: Readonly<Record<string, number>>,
  isKnown: (name: string) => boolean,
  others: string,
): Record<string, number> {
  const result: Record<string, number> = {};
  for (const [name, count] of Object.entries(counts)) {
    const key = isKnown(name) ? name : others;
    result[key] = (result[key] ?? 0) + count;
  }
  return result;
}
