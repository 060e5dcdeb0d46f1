/** In bytes: far more than a job with a shard of 1 MiB or one large item has. Larger data is not fetched. */
export const MAX_JOB_BYTES = 256 * 1024 * 1024;
/** In bytes, of BullMQ's other job fields (options, counts, times); those of our jobs have a few dozen. */
export const MAX_OPTIONS_BYTES = 1024;
/** Max interval between checks for stalled jobs, in milliseconds. */
export const MAX_STALL_CHECK_MS = 10_000;
