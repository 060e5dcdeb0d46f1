/** Longest reply of any kind that is taken, in bytes, unpacked: a version reply of a megabyte, or 4096 rows. */
export const MAX_REPLY_BYTES = 2 * 1024 * 1024;

/** Most rows of one request, whatever batches the guard says it takes: more would not be sent at a time anyway. */
export const MAX_ROWS_OF_REQUEST = 4096;

/** Of a reply that says yes or no. */
export const READINESS_REPLY_BYTES = 4 * 1024;

/** Of a model's configuration, which takes a few thousand: decoding makes up to 200 bytes of one. */
export const CONFIG_REPLY_BYTES = 256 * 1024;

const VERDICT_BASE_BYTES = 64 * 1024;
const VERDICT_ROW_BYTES = 480;

/** Of verdicts on so many rows, whose contract outputs take about 100 each; a guard may have outputs beyond them. */
export function verdictReplyBytes(rows: number): number {
  return VERDICT_BASE_BYTES + rows * VERDICT_ROW_BYTES;
}
