/** Rounds of a test with random inputs: a quarter of them in `npm test`, all in `npm run test:slow`. */
export const rounds = (all: number): number => Math.ceil(all * Number(process.env.TEST_ROUNDS ?? 0.25));
