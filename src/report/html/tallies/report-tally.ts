import type { ItemCode } from '../../../domain/item-error.ts';
import type { Decision, OutcomeLine } from '../../../domain/outcome.ts';
import type { Restriction } from '../../../domain/restriction/restricted.ts';
import type { Restrictions } from '../../../record/restricted/restrictions.ts';
import { CategoryTally } from './category-tally.ts';
import { CoverageTally } from './coverage-tally.ts';
import { GroupTally } from './group-tally.ts';
import { LatencyTally } from './latency-tally.ts';
import { RateTally } from './rate-tally.ts';
import { ScoreTally } from './score-tally.ts';
import { TopLines } from './top-lines.ts';

const MAX_LISTED = 20;
const MAX_RESTRICTED = 100;
const MAX_EXAMPLES = 5;

const SEVERITY: Readonly<Record<Decision, number>> = { allow: 0, review: 1, block: 2 };
const severityOf = ({ decision }: OutcomeLine): number => SEVERITY[decision!];
const distanceOf = ({ score }: OutcomeLine): number => Math.abs(score! - 0.5);

/** Adds up the outcomes of a run, in corpus order, in bounded memory. */
export class ReportTally {
  readonly groups = new GroupTally();
  readonly categories = new CategoryTally();
  readonly scores = new ScoreTally();
  readonly coverage = new CoverageTally();
  readonly latencies = new LatencyTally();
  readonly rate = new RateTally();
  readonly severe = new TopLines(MAX_LISTED, (a, b) => severityOf(b) - severityOf(a) || b.score! - a.score!);
  readonly uncertain = new TopLines(MAX_LISTED, (a, b) => distanceOf(a) - distanceOf(b));
  readonly slow = new TopLines(MAX_LISTED, (a, b) => b.latency_ms! - a.latency_ms!);
  readonly restricted: { readonly line: OutcomeLine; readonly by: Restriction }[] = [];
  /** The first errors by code. */
  readonly examples = new Map<ItemCode, OutcomeLine[]>();

  readonly #restrictions: Pick<Restrictions, 'by'>;

  constructor(restrictions: Pick<Restrictions, 'by'>) {
    this.#restrictions = restrictions;
  }

  add(line: OutcomeLine): void {
    this.groups.add(line);
    const judgedInThisRun = line.same_as === null && line.reused_from === null;
    if (judgedInThisRun) this.rate.add(line);
    const by = this.#restrictions.by(line);
    if (by !== null && this.restricted.length < MAX_RESTRICTED) this.restricted.push({ line, by });
    if (line.error !== null) {
      if (by === null) this.#addExample(line.error.code, line);
      return;
    }
    this.categories.add(line);
    this.scores.add(line);
    this.coverage.add(line);
    if (judgedInThisRun) this.latencies.add(line);
    if (by !== null || line.same_as !== null) return;
    if (line.decision !== 'allow') this.severe.add(line);
    this.uncertain.add(line);
    if (judgedInThisRun && line.latency_ms !== null) this.slow.add(line);
  }

  #addExample(code: ItemCode, line: OutcomeLine): void {
    const lines = this.examples.get(code);
    if (lines === undefined) this.examples.set(code, [line]);
    else if (lines.length < MAX_EXAMPLES) lines.push(line);
  }
}
