import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { RunRecord } from '../../../src/config/run-config.ts';
import { openIndex } from '../../../src/dashboard/index/build-index.ts';
import type { RunIndex } from '../../../src/dashboard/index/run-index.ts';
import { Reviews } from '../../../src/dashboard/reviews/reviews.ts';
import { type OutcomeLine, DECISIONS } from '../../../src/domain/outcome.ts';
import { DEFAULT_POLICY, type Policy, decide } from '../../../src/domain/policy.ts';
import { temporaryFolder } from '../../helpers/cli.ts';
import { writeVerdicts } from '../../analysis/verdict-table.ts';
import { CATEGORY_KEYS, type CategoryKey } from '../../../src/domain/taxonomy.ts';
import { outcomeLine } from '../../record/outcome-line.ts';

export const signal = new AbortController().signal;

export const RUN = '20261122T120000Z-night-ab12';

/** An index of these lines, which are in ascending seq. Closed when the test is over. */
export async function indexed(lines: readonly OutcomeLine[], policy = DEFAULT_POLICY): Promise<RunIndex> {
  const dir = join(await temporaryFolder(), RUN);
  const folder = join(dir, 'index');
  await mkdir(folder, { recursive: true });
  await writeFile(join(dir, 'run.json'), '{}');
  const ofRun = lines.map((line) => ({ ...line, run: RUN }));
  await writeVerdicts(dir, ofRun, policy);
  const record = { run: RUN, config: { policy } } as RunRecord;
  const reviews = Reviews.beside(dir);
  const index = await openIndex({ record, reviews, runDir: dir }, null, folder, signal);
  onTestFinished(() => index.close());
  return index;
}

/** Ids and paths as an attacker, or another language, has them. */
export const ODD_TEXTS = [
  "'; DROP TABLE items; --",
  '"quoted" `ticks` \\ backslashes \\\\ud800 \\ud800',
  'nul \u0000 inside',
  'half \ud83d of a pair',
  '\udc00\udc00 two halves',
  '<script>alert(1)</script><img src=x onerror=alert(1)>',
  '%_*?[a-z]{2}$1 ${x} {{y}}',
  'Ünïcödé ПРИВЕТ 漢字 👩‍👩‍👧 \u202e tfel',
  'line\nbreak\r\ntab\t\u2028',
  'x'.repeat(10_000),
  '../../etc/passwd',
  'null',
];

const UNKNOWN_FLAGS = ['violence/graphic', 'Hate', "o'ther"];

/** Random outcomes as a run with a policy has them, in ascending seq with gaps. */
export function randomOutcomes(count: number, random: () => number, policy: Policy): OutcomeLine[] {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  let seq = 0;
  return Array.from({ length: count }, () => {
    seq += random() < 0.1 ? 3 : 1;
    const where = {
      seq,
      id: random() < 0.3 ? pick(ODD_TEXTS) : `Comment-${Math.floor(random() * 50)}`,
      source: {
        ...outcomeLine().source,
        path: `${pick(['uploads', 'Chats', "o'brien"])}/${random() < 0.2 ? pick(ODD_TEXTS) : `file${seq % 9}.csv`}`,
        row: seq,
        line: seq + 1,
      },
      modality: pick(['text', 'text', 'image', 'audio', null] as const),
      part: random() < 0.1 ? 'chosen' : null,
    };
    if (random() < 0.1) {
      const code = pick(['TIMEOUT', 'CORRUPT_MEDIA'] as const);
      const error = { code, message: 'made by a test', retryable: code === 'TIMEOUT' };
      const none = { flagged: null, score: null, decision: null, latency_ms: null };
      return outcomeLine({ ...where, ...none, status: 'error', error });
    }
    // Few different scores, so that many are equal, to each other and to thresholds.
    const score = (): number => Math.round(random() * 10) / 10;
    const flagged = random() < 0.4;
    const scored: Partial<Record<CategoryKey, number>> = {};
    for (const key of CATEGORY_KEYS) if (random() < 0.6) scored[key] = score();
    const flags = CATEGORY_KEYS.filter(() => random() < 0.08) as string[];
    if (random() < 0.1) flags.push(pick(UNKNOWN_FLAGS));
    const verdict = {
      score: score(),
      flagged,
      subcategoryScores: random() < 0.5 ? scored : null,
      subcategoryFlags: random() < 0.7 ? flags : null,
      needsCaution: random() < 0.1,
      partial: random() < 0.1,
    };
    const { decision, decidedBy } = decide(policy, verdict);
    const coverage = { unit: 'chars', judged: verdict.partial ? 5 : 10, total: 10, worst_at: null } as const;
    return outcomeLine({
      ...where,
      score: verdict.score,
      flagged,
      decision,
      decided_by: decidedBy,
      subcategory_scores: verdict.subcategoryScores,
      subcategory_flags: verdict.subcategoryFlags,
      latency_ms: Math.round(random() * 20),
      coverage: random() < 0.2 && !verdict.partial ? null : coverage,
      stream: {
        chunks: 2,
        first_flagged_seq: null,
        shown_share_at_caution: null,
        shown_share_at_flag: null,
        lag_chunks: 0,
        lag_ms: 0,
        first_caution_seq: verdict.needsCaution ? 0 : null,
      },
    });
  });
}

export function severityOf({ decision }: OutcomeLine): number {
  return decision === null ? -1 : DECISIONS.indexOf(decision);
}
