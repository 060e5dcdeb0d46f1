import { z } from 'zod';
import { EXPECTED } from '../../domain/canary/canary-check.ts';
import { MODALITIES } from '../../domain/request.ts';
import { CATEGORY_KEYS } from '../../domain/taxonomy.ts';
import type { CanaryChoice } from '../run-config.ts';
import { type WithOrigin, usageError, quoteForMessage } from '../usage-error.ts';
import { checkShape, parseYaml, readTextFile } from '../yaml-file.ts';

/** Maximum canaries; every result of a fleet carries all of them. */
const MAX_CANARIES = 100;

const probability = z.number().min(0).max(1);

const CANARY = z.strictObject({
  /** Name in reports and records, which do not contain the content. */
  name: z.string().regex(/^[\w.-]{1,64}$/, 'a name of at most 64 letters, digits, ".", "_" and "-"'),
  modality: z.enum(MODALITIES),
  text: z.string().min(1).optional(),
  /** Path relative to the canary file. */
  file: z.string().min(1).optional(),
  /** Caption of an image or transcript of an audio clip. */
  caption: z.string().min(1).optional(),
  expect: z.enum(EXPECTED),
  /** Category that the guard must flag. */
  category: z.enum(CATEGORY_KEYS).optional(),
  min_score: probability.optional(),
  max_score: probability.optional(),
});

const CANARIES = z.array(CANARY).min(1).max(MAX_CANARIES);

/** A canary as defined in a file. */
export type CanaryEntry = z.output<typeof CANARY>;

/**
 * Reads a file of canaries: a YAML list. Failure('usage') for the first mistake in it, with its line. `named` is the
 * path as messages show it, and the origin that named it.
 */
export async function readCanaryFile(
  absolute: string,
  named: WithOrigin<string>,
): Promise<{ readonly entries: readonly CanaryEntry[]; readonly sha256: string }> {
  const { text, sha256 } = await readTextFile(absolute, named);
  const file = await parseYaml(text, named.value);
  const entries = checkShape(CANARIES, file);
  const names = new Set<string>();
  for (const [index, entry] of entries.entries()) {
    const wrong = mistakeIn(entry) ?? (names.has(entry.name) ? 'another canary has this name' : null);
    if (wrong !== null) throw usageError(`${file.at([index])}: canary ${quoteForMessage(entry.name)}`, wrong);
    names.add(entry.name);
  }
  return { entries, sha256 };
}

/** Resolves `--canaries`, whose file is read and checked. Failure('usage') as in `readCanaryFile`. */
export async function canaryChoice(named: WithOrigin<string>, absolute: string): Promise<CanaryChoice> {
  if (named.value === 'off') return { from: 'off' };
  const { sha256 } = await readCanaryFile(absolute, named);
  return { from: 'file', path: absolute, sha256 };
}

function mistakeIn({
  modality,
  text,
  file,
  caption,
  expect,
  category,
  ...scores
}: CanaryEntry): string | null {
  if (modality === 'text') {
    if (text === undefined) return 'needs text';
    if (file !== undefined || caption !== undefined) return 'a text has no file and no caption';
  } else {
    if (file === undefined) return `needs a file, because its modality is ${modality}`;
    if (text !== undefined) return 'has a caption, not a text, beside its file';
  }
  if (category !== undefined && expect === 'allowed') return 'a category goes with expect: flagged';
  const { min_score: min = 0, max_score: max = 1 } = scores;
  return min > max ? 'min_score is above max_score' : null;
}
