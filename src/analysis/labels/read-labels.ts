import { extname } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../domain/failure.ts';
import { CATEGORY_KEYS } from '../../domain/taxonomy.ts';
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

/** Expected values, by key. */
const EXPECTED = {
  id: 'a text',
  content_sha256: '64 hexadecimal digits in lower case',
  part: 'a text',
  category: 'a key such as hate or violent_crimes',
  label: 'true, false, 1 or 0',
} as const satisfies Record<keyof Label, string>;

/**
 * A person's finding about an item, identified by its id or content: whether it is hazardous, or belongs to a category.
 * With a `part`, it is about that part only.
 */
export type Label = z.infer<typeof LABEL>;

/**
 * Reads labels from a CSV table or JSON Lines: `label` (true or false), `id` or `content_sha256`, and optionally `part`
 * and `category`. Failure('usage') names the first row that is not a valid label; a file without labels is also
 * refused.
 */
export async function readLabels(path: string): Promise<Label[]> {
  const labels = recordsIn(path, await bytesOf(path)).map(labelOf);
  if (labels.length === 0) throw new Failure('usage', '--labels: the file has no labels');
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

function labelOf({ row, content }: SourceRecord): Label {
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

/** Returns a string, or null for an empty one. Other types are returned unchanged, for the schema to reject. */
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
