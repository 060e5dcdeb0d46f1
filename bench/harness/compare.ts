import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../src/domain/failure.ts';
import { columns, withUnit } from './table.ts';

/** The part of a results file that is read. */
const RESULTS = z.object({
  scale: z.number(),
  machine: z.object({ cpu: z.string(), cores: z.number() }),
  benches: z.array(
    z.object({
      bench: z.string(),
      figures: z.array(
        z.object({
          name: z.string(),
          unit: z.string(),
          measured: z.number(),
          lowest: z.number(),
          highest: z.number(),
          rounds: z.number(),
        }),
      ),
    }),
  ),
});
type ComparedResults = z.infer<typeof RESULTS>;
type Measured = ComparedResults['benches'][number]['figures'][number];

/**
 * Table lines for the figures that two results have in common, and by how much the second differ. A figure has changed
 * beyond noise when the ranges of its rounds do not overlap; a single round has no range. Failure('usage') for results
 * that were not measured at the same scale on the same kind of machine.
 */
export function compareResults(before: ComparedResults, after: ComparedResults): string[] {
  const kindOf = ({ scale, machine }: ComparedResults): string =>
    `scale ${scale}, ${machine.cpu}, ${machine.cores} cores`;
  if (kindOf(before) !== kindOf(after)) {
    throw new Failure('usage', `the results cannot be compared: ${kindOf(before)}; ${kindOf(after)}`);
  }
  const earlier = new Map<string, Measured>();
  for (const { bench, figures } of before.benches)
    for (const one of figures) earlier.set(`${bench}\n${one.name}`, one);
  const rows: string[][] = [['bench', 'figure', 'before', 'after', 'ratio', 'beyond noise']];
  for (const { bench, figures } of after.benches) {
    for (const one of figures) {
      const other = earlier.get(`${bench}\n${one.name}`);
      if (other === undefined || other.unit !== one.unit) continue;
      const values = [withUnit(other.measured, one.unit), withUnit(one.measured, one.unit)];
      rows.push([
        bench,
        one.name,
        ...values,
        withUnit(one.measured / other.measured, ''),
        change(other, one),
      ]);
    }
  }
  return columns(rows);
}

function change(before: Measured, after: Measured): string {
  if (before.rounds < 2 || after.rounds < 2) return 'unknown: one round';
  if (after.highest < before.lowest) return 'lower';
  return after.lowest > before.highest ? 'higher' : 'no';
}

/**
 * Reads a results file, relative to the user's folder. Failure('usage') when it cannot be read, or is something else.
 */
export async function readResults(path: string): Promise<ComparedResults> {
  try {
    return RESULTS.parse(JSON.parse(await readFile(resolve(process.env['INIT_CWD'] ?? '.', path), 'utf8')));
  } catch (cause) {
    throw new Failure('usage', `${path} is not a results file`, { cause });
  }
}
