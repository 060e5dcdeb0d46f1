const OUTPUTS = ['SCORE', 'FLAGGED', 'SUBCATEGORY_SCORES', 'SUBCATEGORY_FLAGS'];

/** The tensors of a verdict as text, which is equal for equal verdicts over any transport. `raw` has their contents. */
export function verdictText(raw: ReadonlyMap<string, Buffer>): string {
  return OUTPUTS.map((name) => `${name} ${raw.get(name)?.toString('hex') ?? 'missing'}`).join(', ');
}
