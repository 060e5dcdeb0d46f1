import { BATCH_PARTS } from '../../formats/transcripts/layouts/openai-batch.ts';
import type { OutcomeLine } from '../../domain/outcome.ts';
import { CATEGORY_KEYS, type CategoryKey } from '../../domain/taxonomy.ts';

/** A line of batch_output.jsonl or batch_errors.jsonl, in the format of OpenAI's Batch API. */
export interface BatchLine {
  readonly isError: boolean;
  readonly value: object;
}

/** The outcomes of one request. */
interface Open {
  readonly customId: string;
  readonly first: OutcomeLine;
  readonly lines: OutcomeLine[];
}

/** Combines the outcomes of batch requests: one line per request, however many items it had. */
export class BatchResults {
  #open: Open | null = null;

  /** Adds the next outcome in corpus order; returns the line of the request that ended before it, if one did. */
  add(line: OutcomeLine): BatchLine | null {
    const open = this.#open;
    const isSame = open?.first.source.path === line.source.path && open.first.source.row === line.source.row;
    const isOfRequest = isOfBatch(line);
    if (isSame) {
      // Other parts of a record are judged too, but are not part of the response.
      if (isOfRequest) open.lines.push(line);
      return null;
    }
    const ended = this.end();
    if (isOfRequest) this.#open = { customId: customIdOf(line), first: line, lines: [line] };
    return ended;
  }

  /** The line of the last request, if there is one. */
  end(): BatchLine | null {
    const open = this.#open;
    this.#open = null;
    return open === null ? null : batchLine(open);
  }
}

/** Whether an outcome belongs to a batch request. */
export function isOfBatch({ part, source }: Pick<OutcomeLine, 'part' | 'source'>): boolean {
  return (
    part !== null &&
    source.row !== null &&
    BATCH_PARTS.some((name) => part === name || part.startsWith(`${name}.`) || part.startsWith(`${name}[`))
  );
}

/** The id of the item without the suffix for its position in the request. */
function customIdOf({ id, part, turn }: OutcomeLine): string {
  const isWhole = BATCH_PARTS.some((name) => name === part) && turn === null;
  return isWhole ? id : id.slice(0, id.lastIndexOf('#'));
}

/** A request is answered only if each of its items was judged. */
function batchLine({ customId, first, lines }: Open): BatchLine {
  const id = `batch_req_${first.run}_${first.seq}`;
  const failed = lines.find(({ error }) => error !== null)?.error ?? null;
  const body = {
    id: `modr_${first.run}_${first.seq}`,
    model: first.fingerprint ?? first.endpoint,
    results: lines.map(resultOf),
  };
  const line =
    failed !== null
      ? { id, custom_id: customId, response: null, error: { code: failed.code, message: failed.message } }
      : { id, custom_id: customId, response: { status_code: 200, request_id: id, body }, error: null };
  return { isError: failed !== null, value: line };
}

/**
 * A result with the keys of our taxonomy: OpenAI's categories are defined differently and were not measured. Null for
 * values that the guard did not report.
 */
function resultOf(line: OutcomeLine): object {
  const { subcategory_flags: flags, subcategory_scores: scores } = line;
  const byCategory = <T>(valueOf: (key: CategoryKey) => T): Record<string, T> =>
    Object.fromEntries(CATEGORY_KEYS.map((key) => [key, valueOf(key)]));
  return {
    flagged: line.decision !== 'allow',
    categories: byCategory((key) => flags?.includes(key) ?? null),
    category_scores: byCategory((key) => scores?.[key] ?? null),
    score: line.score,
    decision: line.decision,
    decided_by: line.decided_by,
  };
}
