/** Tests of what is forged in Redis: each waits for the queue to be mended, and `npm test` would take minutes longer. */
export const FORGED = 'test/queue/redis/malformed/**/*.test.ts';
