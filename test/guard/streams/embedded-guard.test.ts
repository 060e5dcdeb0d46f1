import { afterAll, beforeAll, expect, it } from 'vitest';
import type { GuardServer } from '../../../src/guard-server/server.ts';
import { startGuardServer } from '../../../src/guard-server/server.ts';
import {
  closeAfterEach,
  connect,
  generation,
  judge,
  prompts,
  verdict,
} from '../../helpers/guards/guard-pool.ts';

closeAfterEach();

let server: GuardServer;
beforeAll(async () => {
  server = await startGuardServer({ model: 'synthetic', grpcPort: 0, httpPort: 0 });
});
afterAll(() => server.close());

const GENERATIONS = Array.from({ length: 12 }, (_, index) =>
  generation(
    Array.from({ length: 4 + index }, (_unused, chunk) => `part ${chunk} of ${index}, `),
    1 + (index % 3),
  ),
);

/** What must be the same whenever it is judged. */
function findings(outcomes: Awaited<ReturnType<typeof judge>>): unknown[] {
  return outcomes.map((outcome) => {
    const { score, flagged, coverage, stream } = verdict(outcome);
    return { score, flagged, coverage, stream: { ...stream, lagChunks: 0, lagMs: 0 } };
  });
}

it('judges generations to their end, the same each time, and prompts beside them', async () => {
  const pool = await connect([server]);
  const [generations, others] = await Promise.all([judge(pool, GENERATIONS), judge(pool, prompts(30))]);
  others.forEach(verdict);
  for (const [index, outcome] of generations.entries()) {
    const { stream, fingerprint, attempts } = verdict(outcome);
    const { chunks } = GENERATIONS[index]!;
    expect(stream).toMatchObject({ chunks: chunks.length, judgedChunks: chunks.length });
    expect(stream!.lagMs).toBeGreaterThan(0);
    expect([fingerprint, attempts]).toEqual([server.synthetic!.fingerprint.id, 1]);
  }
  expect(findings(await judge(pool, GENERATIONS.toReversed())).reverse()).toEqual(findings(generations));
});

it('finds the same over a WebSocket as over gRPC', async () => {
  const overGrpc = await judge(await connect([server]), GENERATIONS);
  const socket = await connect([{ address: server.httpAddress!.replace('http:', 'ws:') }]);
  expect(findings(await judge(socket, GENERATIONS))).toEqual(findings(overGrpc));
});
