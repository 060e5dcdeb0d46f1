/** How long a caller waits for an answer; a later one counts as wrong. */
export const MAX_ANSWER_MS = 60_000;
