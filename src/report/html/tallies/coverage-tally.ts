import { COVERAGE_UNITS } from '../../../domain/coverage.ts';
import type { OutcomeLine } from '../../../domain/outcome.ts';
import type { CoverageRow } from '../report-data.ts';

type Counts = { -readonly [Key in keyof CoverageRow]: CoverageRow[Key] };

/** Adds up how much of the items was judged, by unit. */
export class CoverageTally {
  readonly #rows = new Map<CoverageRow['unit'], Counts>();

  add({ coverage }: OutcomeLine): void {
    if (coverage === null) return;
    const { unit, judged, total, worst_at } = coverage;
    let row = this.#rows.get(unit);
    if (row === undefined) {
      this.#rows.set(unit, (row = { unit, items: 0, partial: 0, inParts: 0, judged: 0, total: 0 }));
    }
    row.items++;
    row.judged += judged;
    row.total += total;
    if (judged < total) row.partial++;
    if (worst_at !== null) row.inParts++;
  }

  rows(): CoverageRow[] {
    return COVERAGE_UNITS.map((unit) => this.#rows.get(unit)).filter((row) => row !== undefined);
  }
}
