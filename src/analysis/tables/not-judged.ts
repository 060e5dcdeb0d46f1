import { ITEM_CODES, ITEM_ERROR_REASONS, isRetryable } from '../../domain/item-error.ts';
import { CONVERSION_ADVICE, OTHER_FILES, OTHER_HELP } from '../../domain/words/file-kinds.ts';
import { ITEM_ADVICE, REASON_ADVICE } from '../../domain/words/item-advice.ts';
import { sqlText } from '../duckdb.ts';
import { VERDICTS_IN_TABLE } from '../verdict-columns.ts';
import type { TableColumn } from './table-columns.ts';

/** The extension, determined as in `fileExtension`. For an unsupported file inside an archive, its name is the part. */
const KIND = `coalesce(nullif(regexp_extract(
  lower(if(error_reason = 'file_type', coalesce(part, path), path)), '[^/]\\.([a-z0-9]{1,8})$', 1), ''), ${sqlText(OTHER_FILES)})`;

/** Items that were not judged, by cause and kind of file: one row each, those with the most items first. */
export const NOT_JUDGED = `(
  SELECT error_code AS code, error_reason AS reason, ${KIND} AS kind, count(*) AS items,
    count(*) FILTER (WHERE "row" IS NULL) AS whole_files, sum(file_bytes) FILTER (WHERE "row" IS NULL) AS bytes
  FROM ${VERDICTS_IN_TABLE} WHERE error_code IS NOT NULL GROUP BY ALL ORDER BY items DESC, code, reason, kind)`;

const CONVERSIONS = CONVERSION_ADVICE.map(([extensions, help]) => {
  return `WHEN kind IN (${extensions.map(sqlText).join(', ')}) THEN ${sqlText(help)}`;
});

const HELP = `CASE
  WHEN reason = 'file_type' THEN CASE ${CONVERSIONS.join(' ')} ELSE ${sqlText(OTHER_HELP)} END
  ${ITEM_ERROR_REASONS.map((reason) => `WHEN reason = '${reason}' THEN ${sqlText(REASON_ADVICE[reason].full)}`).join(' ')}
  ${ITEM_CODES.map((code) => `WHEN code = '${code}' THEN ${sqlText(adviceOn(code))}`).join(' ')} END`;

function adviceOn(code: (typeof ITEM_CODES)[number]): string {
  return `${ITEM_ADVICE[code].full}${isRetryable({ code }) ? '; judge it again with guardsweep retry' : ''}`;
}

/** The columns of not-judged.csv. It names no item: errors.jsonl does. */
export const NOT_JUDGED_COLUMNS: readonly TableColumn[] = [
  { name: 'code', value: 'code', type: 'plain' },
  { name: 'reason', value: 'reason', type: 'plain' },
  { name: 'kind_of_file', value: 'kind', type: 'plain' },
  { name: 'items', value: 'items', type: 'number' },
  { name: 'whole_files', value: 'whole_files', type: 'number' },
  { name: 'bytes_of_whole_files', value: 'bytes', type: 'number' },
  { name: 'what_would_help', value: HELP, type: 'text' },
];
