/** Far more than a shard of 1 MiB, or of one large item, takes as a job; what is larger is not fetched, in bytes. */
export const MAX_JOB_BYTES = 256 * 1024 * 1024;
/** Of BullMQ's options, and of its counts and times, of which ours are a few dozen characters. */
export const MAX_OPTIONS_BYTES = 1024;
/** Between two looks for jobs that nobody has in hand any more, at most, in milliseconds. */
export const MAX_STALL_CHECK_MS = 10_000;
