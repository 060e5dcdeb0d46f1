import { Failure } from '../../../domain/failure.ts';
import { ITEM_CODES } from '../../../domain/item-error.ts';
import { DECISIONS, type OutcomeLine } from '../../../domain/outcome.ts';
import { MODALITIES } from '../../../domain/request.ts';
import { COVERAGE_UNITS } from '../../../domain/coverage.ts';
import { isCategoryKey } from '../../../domain/taxonomy.ts';
import { RUN_FILES } from '../../../files/run-files.ts';

const decisions: ReadonlySet<unknown> = new Set(DECISIONS);
const modalities: ReadonlySet<unknown> = new Set(MODALITIES);
const codes: ReadonlySet<unknown> = new Set(ITEM_CODES);
const units: ReadonlySet<unknown> = new Set(COVERAGE_UNITS);

/**
 * An outcome line from its text, of which only what the tallies use is checked: a line takes a third of the time that the
 * whole schema takes. For files whose hash was checked. Failure('internal') for a line of another form.
 */
export function checkedLine(text: string): OutcomeLine {
  try {
    const line = JSON.parse(text) as OutcomeLine;
    if (isCountable(line)) return line;
  } catch (cause) {
    throw new Failure('internal', `${RUN_FILES.verdicts} has a line that is no outcome`, { cause });
  }
  throw new Failure('internal', `${RUN_FILES.verdicts} has a line that is no outcome`);
}

function isCountable(line: OutcomeLine): boolean {
  return (
    Number.isSafeInteger(line.seq) &&
    typeof line.source.path === 'string' &&
    (line.modality === null || modalities.has(line.modality)) &&
    (line.same_as === null || Number.isSafeInteger(line.same_as)) &&
    isText(line.reused_from) &&
    isText(line.endpoint) &&
    isText(line.fingerprint) &&
    isText(line.decided_by) &&
    typeof line.moderated_at === 'string' &&
    (line.error === null ? isVerdict(line) : line.decision === null && codes.has(line.error.code))
  );
}

function isVerdict(line: OutcomeLine): boolean {
  const { subcategory_flags: flags, subcategory_scores: scores, coverage } = line;
  return (
    decisions.has(line.decision) &&
    isShare(line.score) &&
    typeof line.flagged === 'boolean' &&
    (line.latency_ms === null || isAmount(line.latency_ms)) &&
    (flags === null || (Array.isArray(flags) && flags.every((flag) => typeof flag === 'string'))) &&
    (scores === null || (typeof scores === 'object' && areScores(scores))) &&
    (coverage === null || (units.has(coverage.unit) && isAmount(coverage.judged) && isAmount(coverage.total)))
  );
}

function areScores(scores: object): boolean {
  for (const [key, score] of Object.entries(scores)) if (!isCategoryKey(key) || !isShare(score)) return false;
  return true;
}

const isText = (value: unknown): boolean => value === null || typeof value === 'string';
const isAmount = (value: unknown): boolean => typeof value === 'number' && value >= 0;
const isShare = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value <= 1;
