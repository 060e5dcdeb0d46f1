import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Cadence, StreamRequest } from '../../../src/guard/tensors/stream/stream-messages.ts';
import { RecordedStream, startStreams } from '../../helpers/guards/moderation-streams.ts';

const chunk = fc.oneof(
  { weight: 8, arbitrary: fc.string({ minLength: 1, maxLength: 6 }) },
  { weight: 1, arbitrary: fc.constantFrom('', null, ' ') },
);
const request: fc.Arbitrary<StreamRequest> = fc.record({
  streamId: fc.constantFrom('', '', 's', 't'),
  seq: fc.integer({ min: 0, max: 30 }),
  prompt: fc.constantFrom(null, 'prompt', 'prompt', 'prompt', 'other', ''),
  chunk,
  endOfStream: fc.boolean(),
  cadence: fc.constantFrom<(Cadence | null)[]>(
    ...[null, null, null, { unit: 'chunks', every: 1 } as const, { unit: 'ms', every: 99_999 } as const],
  ),
});
/** What a client may do, in a random order. */
const actions = fc.array(
  fc.oneof(
    { weight: 12, arbitrary: fc.record({ does: fc.constant('send' as const), request }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constantFrom('send nonsense', 'end', 'leave') }) },
    { weight: 4, arbitrary: fc.record({ does: fc.constant('wait' as const) }) },
  ),
  { maxLength: 12 },
);

/** The contract's state table, written down a second time and in the simplest way. */
class ContractModel {
  state: 'open' | 'final' | 'terminated' = 'open';
  status: string | null = null;
  /** Whether the client has ended its side: the final verdict then ends the stream. */
  #isHalfClosed = false;
  readonly seqs: number[] = [];
  #first: StreamRequest | null = null;

  send(request: StreamRequest): void {
    if (this.state === 'terminated') return;
    if (this.state === 'final') return this.end('FAILED_PRECONDITION');
    const hasText = request.chunk !== null && request.chunk !== '';
    if (request.endOfStream && !hasText && this.#first === null) return this.end('FAILED_PRECONDITION');
    if (request.seq <= (this.seqs.at(-1) ?? -1)) return this.end('INVALID_ARGUMENT');
    if (!hasText && !request.endOfStream) return this.end('INVALID_ARGUMENT');
    if (!this.#agrees(request)) return this.end('INVALID_ARGUMENT');
    this.#first ??= request;
    this.seqs.push(request.seq);
    if (request.endOfStream) this.state = 'final';
  }

  halfClose(): void {
    if (this.state === 'open') this.end('CANCELLED');
    this.#isHalfClosed = true;
  }

  /** The final verdict has been given. */
  complete(): void {
    if (this.#isHalfClosed) this.end('OK');
  }

  end(status: string): void {
    if (this.state === 'terminated') return;
    this.state = 'terminated';
    this.status = status;
  }

  #agrees({ streamId, prompt, cadence }: StreamRequest): boolean {
    const first = this.#first;
    if (first === null) return prompt === 'prompt' || prompt === 'other' ? cadence?.unit !== 'ms' : false;
    const every = first.cadence?.every ?? 4;
    return (
      (streamId === '' || streamId === first.streamId) &&
      (prompt === null || prompt === '' || prompt === first.prompt) &&
      (cadence === null || (cadence.unit === 'chunks' && cadence.every === every))
    );
  }
}

it('the state machine follows the contract whatever a client sends (C-224, C-227, C-302, C-304, C-306, C-310, C-602, C-716)', async () => {
  const streams = await startStreams({ lingerMs: 60_000 });
  await fc.assert(
    fc.asyncProperty(actions, async (given) => {
      const recorded = new RecordedStream(streams);
      const model = new ContractModel();
      for (const action of given) {
        if (action.does === 'send') {
          recorded.stream.receive(action.request);
          model.send(action.request);
        } else if (action.does === 'send nonsense') {
          recorded.stream.receiveInvalid('nonsense');
          model.end(model.state === 'final' ? 'FAILED_PRECONDITION' : 'INVALID_ARGUMENT');
        } else if (action.does === 'wait') await turn();
        else {
          const isComplete = recorded.verdicts.at(-1)?.isFinal === true;
          if (action.does === 'end') {
            recorded.stream.clientEnded();
            model.halfClose();
          } else {
            recorded.stream.clientLeft();
            model.end(isComplete ? 'OK' : 'CANCELLED');
          }
        }
        if (recorded.verdicts.at(-1)?.isFinal === true) model.complete();
        expect(recorded.status).toBe(model.status);
        checkVerdicts(recorded, model);
      }
      recorded.stream.clientLeft();
      expect(streams.open).toBe(0);
      expect(streams.unjudgedText).toBe(0);
    }),
  );
});

/** Lets evaluations end that have nothing to wait for. */
async function turn(): Promise<void> {
  for (let turns = 0; turns < 3; turns++) await new Promise(setImmediate);
}

/** Verdicts are given in order, on what was sent, never get better, and the final one is the last. */
function checkVerdicts({ verdicts }: RecordedStream, { seqs }: ContractModel): void {
  verdicts.forEach((verdict, index) => {
    const before = verdicts[index - 1];
    expect(seqs).toContain(verdict.processedUntilSeq);
    if (before === undefined) return;
    expect(before.isFinal).toBe(false);
    expect(verdict.processedUntilSeq).toBeGreaterThan(before.processedUntilSeq);
    expect(verdict.score ?? 0).toBeGreaterThanOrEqual(before.score ?? 0);
    expect(verdict.flagged || !before.flagged).toBe(true);
  });
}

it('the verdicts of a cadence in chunks depend on the chunks and not on when they arrive (C-423, C-424, C-602)', async () => {
  const streams = await startStreams();
  const texts = fc.array(fc.string({ minLength: 1, maxLength: 1200 }), { minLength: 1, maxLength: 30 });
  const every = fc.integer({ min: 1, max: 5 });
  await fc.assert(
    fc.asyncProperty(texts, every, fc.boolean(), async (chunks, n, endsWithText) => {
      const cadence = { unit: 'chunks', every: n } as const;
      const runs: RecordedStream[] = [];
      for (const inLockStep of [true, false]) {
        const recorded = new RecordedStream(streams);
        runs.push(recorded);
        for (const [seq, chunk] of chunks.entries()) {
          const isLast = endsWithText && seq === chunks.length - 1;
          const opening = seq === 0 ? { prompt: 'p', cadence } : {};
          recorded.send({ seq, chunk, endOfStream: isLast, ...opening });
          if (inLockStep && !isLast && (seq + 1) % n === 0) await recorded.next();
        }
        if (!endsWithText) recorded.send({ seq: chunks.length, endOfStream: true });
        recorded.stream.clientEnded();
        expect(await recorded.ended).toBe('OK');
      }
      const [inLockStep, atOnce] = runs.map(({ verdicts }) =>
        verdicts.map(({ latencyMs, ...verdict }) => ({ ...verdict, isLate: latencyMs < 0 })),
      );
      expect(atOnce).toEqual(inLockStep);
      expect(atOnce!.filter(({ isFinal }) => isFinal)).toHaveLength(1);
    }),
    { numRuns: 30 },
  );
});
