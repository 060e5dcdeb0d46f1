/** Max size of any reply, in bytes, uncompressed: enough for a version reply of 1 MiB, or 4096 rows. */
export const MAX_REPLY_BYTES = 2 * 1024 * 1024;

/** Max rows of one request, whatever max batch size the model declares: no more are in flight at one endpoint anyway. */
export const MAX_ROWS_PER_REQUEST = 4096;

/** Max size of a readiness reply, in bytes. */
export const MAX_READINESS_REPLY_BYTES = 4 * 1024;

/**
 * Max size of a model configuration, in bytes. A real one has a few thousand. Decoding can need up to 200 times the
 * memory.
 */
export const MAX_CONFIG_REPLY_BYTES = 256 * 1024;

const MAX_VERDICT_BASE_BYTES = 64 * 1024;
const MAX_VERDICT_ROW_BYTES = 480;

/** Max size of a reply with verdicts. The contract's outputs take about 100 bytes per row; a guard may add outputs. */
export function maxVerdictReplyBytes(rows: number): number {
  return MAX_VERDICT_BASE_BYTES + rows * MAX_VERDICT_ROW_BYTES;
}
