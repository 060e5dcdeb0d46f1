import { extname } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../domain/failure.ts';
import { CATEGORY_KEYS, type CategoryKey } from '../../domain/taxonomy.ts';
import { FileTooLargeError, readWholeFile } from '../../files/open-file.ts';
import { CsvReader } from '../../formats/csv/csv-reader.ts';
import { sniffDialect } from '../../formats/csv/csv-dialect.ts';
import { JsonlReader } from '../../formats/json/jsonl-reader.ts';
import { isFields, recordsOf, type Fields, type SourceRecord } from '../../formats/record.ts';

const MAX_BYTES = 256 * 1024 * 1024;
const MAX_RECORD_BYTES = 1024 * 1024;
const HEAD_BYTES = 64 * 1024;

const LABEL = z.object({
  id: z.string().nullable(),
  content_sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .nullable(),
  part: z.string().nullable(),
  category: z.enum(CATEGORY_KEYS).nullable(),
  label: z.boolean(),
});

/** What a value has to be, by its key. */
const EXPECTED = {
  id: 'a text',
  content_sha256: '64 hexadecimal digits in lower case',
  part: 'a text',
  category: 'a key such as hate or violent_crimes',
  label: 'true, false, 1 or 0',
} as const satisfies Record<keyof z.infer<typeof LABEL>, string>;

/** What people found about an item: whether it is hazardous, or belongs to a category. */
export interface Label {
  /** Null: hazardous at all. */
  readonly category: CategoryKey | null;
  readonly isPositive: boolean;
  /** Whether an item of the run has this label. */
  isMatched: boolean;
}

/** What labels name an item by. */
export interface LabelledItem {
  readonly id: string;
  readonly content_sha256: string | null;
  readonly part: string | null;
}

/** Labels by the items that they are about. */
export class Labels {
  readonly #byKey = new Map<string, Label[]>();
  readonly #all: Label[] = [];
  #contradictions = 0;

  /** All labels, in the order of their file. */
  get all(): readonly Label[] {
    return this.#all;
  }

  /** Labels that were left out because another one says the opposite of the same item. */
  get contradictions(): number {
    return this.#contradictions;
  }

  add({ id, content_sha256, part, category, label }: z.infer<typeof LABEL>): void {
    const key = content_sha256 === null ? keyOf('id', id!, part) : keyOf('content', content_sha256, part);
    const others = this.#byKey.get(key) ?? [];
    const same = others.find((other) => other.category === category);
    if (same !== undefined) {
      if (same.isPositive !== label) this.#contradictions++;
      return;
    }
    const added = { category, isPositive: label, isMatched: false };
    this.#all.push(added);
    this.#byKey.set(key, [...others, added]);
  }

  /** What its labels name items by: an id or a content; some several times. */
  *keys(): Generator<{ readonly id: string | null; readonly content: string | null }> {
    for (const key of this.#byKey.keys()) {
      const [kind, value] = JSON.parse(key) as [kind: 'id' | 'content', value: string];
      yield { id: kind === 'id' ? value : null, content: kind === 'content' ? value : null };
    }
  }

  /** The labels of an item, by its id or its content, with or without its part; the first of a category counts. */
  of({ id, content_sha256, part }: LabelledItem): readonly Label[] {
    const found: Label[] = [];
    const keys = [keyOf('id', id, null)];
    if (part !== null) keys.push(keyOf('id', id, part));
    if (content_sha256 !== null) {
      keys.push(keyOf('content', content_sha256, null));
      if (part !== null) keys.push(keyOf('content', content_sha256, part));
    }
    for (const key of keys) {
      for (const label of this.#byKey.get(key) ?? []) {
        if (!found.some(({ category }) => category === label.category)) found.push(label);
      }
    }
    return found;
  }
}

function keyOf(kind: 'id' | 'content', value: string, part: string | null): string {
  return JSON.stringify([kind, value, part]);
}

/**
 * Reads labels from a CSV table or JSON Lines: `label` (true or false), `id` or `content_sha256`, and optionally `part` and
 * `category`. Failure('usage') names the first row that is no label; a file without
 * labels is refused too.
 */
export async function readLabels(path: string): Promise<Labels> {
  const labels = new Labels();
  for (const record of recordsIn(path, await bytesOf(path))) labels.add(labelOf(record));
  if (labels.all.length === 0) throw new Failure('usage', '--labels: the file has no labels');
  return labels;
}

async function bytesOf(path: string): Promise<Buffer> {
  try {
    return await readWholeFile(path, { maxBytes: MAX_BYTES, links: 'follow' });
  } catch (cause) {
    if (cause instanceof FileTooLargeError)
      throw new Failure('usage', '--labels: the file has more than 256 MB');
    const { code } = cause as NodeJS.ErrnoException;
    throw new Failure('usage', `--labels: the file cannot be read (${code})`, { cause });
  }
}

function recordsIn(path: string, bytes: Buffer): SourceRecord[] {
  if (!['.csv', '.tsv'].includes(extname(path).toLowerCase())) {
    return recordsOf(new JsonlReader(MAX_RECORD_BYTES), bytes, true);
  }
  const dialect = sniffDialect(bytes.subarray(0, HEAD_BYTES), bytes.length <= HEAD_BYTES, null);
  return recordsOf(new CsvReader(dialect, MAX_RECORD_BYTES), bytes, true);
}

function labelOf({ row, content }: SourceRecord): z.infer<typeof LABEL> {
  const fields = isFields(content) ? content : null;
  const given = fields && {
    id: textOf(fields, 'id'),
    content_sha256: textOf(fields, 'content_sha256'),
    part: textOf(fields, 'part'),
    category: textOf(fields, 'category'),
    label: truthOf(fields.get('label')),
  };
  const parsed = LABEL.safeParse(given);
  if (parsed.success && (parsed.data.id !== null || parsed.data.content_sha256 !== null)) return parsed.data;
  const found = parsed.error?.issues[0]?.path[0] as keyof typeof EXPECTED | undefined;
  const what =
    found === undefined
      ? 'needs an id or a content_sha256'
      : `has no usable ${found}: expected ${EXPECTED[found]}`;
  throw new Failure('usage', `--labels: row ${row} ${what}`);
}

/** A text; null if there is none. Anything else is returned as it is, and refused. */
function textOf(fields: Fields, name: string): unknown {
  const value = fields.get(name) ?? null;
  if (value === '') return null;
  return typeof value === 'number' ? String(value) : value;
}

function truthOf(value: unknown): unknown {
  if (typeof value === 'number') return value === 1 ? true : value === 0 ? false : value;
  if (typeof value !== 'string') return value;
  const text = value.trim().toLowerCase();
  if (text === 'true' || text === '1') return true;
  return text === 'false' || text === '0' ? false : value;
}
