import { createHash } from 'node:crypto';
import { itemError, type ItemCode } from '../../../src/domain/item-error.ts';
import { wholeCoverage } from '../../../src/domain/coverage.ts';
import type { Outcome } from '../../../src/domain/outcome.ts';
import { submittedTurns, type GuardRequest } from '../../../src/domain/request.ts';
import type { Judge } from '../../../src/moderate/judge.ts';
import { judgement, MODEL } from '../moderation.ts';

/** All that a request sends, one text after another. */
export function textsOf(request: GuardRequest): readonly string[] {
  switch (request.requestType) {
    case 'multiturn':
      return submittedTurns(request).map(([, content]) => content);
    case 'response':
      return request.prompt === null ? [request.response] : [request.prompt, request.response];
    case 'generation':
      return [request.prompt, ...request.chunks];
    case 'prompt':
      return 'text' in request ? [request.text] : [];
  }
}

/** Four bytes of ASCII are a token, and so is every other character: no length in bytes tells how many there are. */
function tokens(text: string): number {
  let sum = 0;
  for (const character of text) sum += character < '\x80' ? 0.25 : 1;
  return sum;
}

/** Guards with contexts of a few tokens, whose score depends on every character they are sent. */
export class SmallGuards implements Judge {
  readonly fingerprints = new Map([[MODEL.id, MODEL]]);
  /** What was judged since something was last refused. */
  judged: GuardRequest[] = [];
  calls = 0;
  readonly #contexts: Map<string, number>;
  /** Before which call which endpoint goes out of use. */
  readonly #outages: ReadonlyMap<number, string>;

  /** Context by endpoint, in tokens; what no preference decides goes to them in turns. */
  constructor(contexts: Readonly<Record<string, number>>, outages: ReadonlyMap<number, string> = new Map()) {
    this.#contexts = new Map(Object.entries(contexts));
    this.#outages = outages;
  }

  async judge(
    requests: readonly GuardRequest[],
    { endpoint, signal }: { endpoint?: string | null; signal: AbortSignal },
  ): Promise<Outcome[]> {
    signal.throwIfAborted();
    const out = this.#outages.get(this.calls++);
    if (out !== undefined && this.#contexts.size > 1) this.#contexts.delete(out);
    await Promise.resolve();
    signal.throwIfAborted();
    const outcomes = requests.map((request, index) => {
      const names = [...this.#contexts.keys()];
      const preferred = endpoint != null && this.#contexts.has(endpoint) ? endpoint : null;
      return this.#answer(request, preferred ?? names[(this.calls + index) % names.length]!);
    });
    const refused = outcomes.some(({ failure }) => failure !== null);
    this.judged = refused ? [] : [...this.judged, ...requests];
    return outcomes;
  }

  #answer(request: GuardRequest, endpoint: string): Outcome {
    const texts = textsOf(request);
    const refuse = (code: ItemCode): Outcome => ({
      judgement: null,
      failure: {
        error: itemError(code, 'refused'),
        attempts: 1,
        endpoint,
        moderatedAt: '2026-01-01T00:00:00.000Z',
      },
    });
    if (texts.some((text) => text.trim() === '')) return refuse('EMPTY_CONTENT');
    if (request.requestType === 'multiturn' && submittedTurns(request).at(-1)![0] === 'system') {
      return refuse('INVALID_CONVERSATION');
    }
    if (texts.reduce((sum, text) => sum + tokens(text), 0) > this.#contexts.get(endpoint)!) {
      return refuse('SEQUENCE_OVERFLOW');
    }
    const score = createHash('sha256').update(JSON.stringify(texts)).digest().readUInt32BE() / 2 ** 32;
    return judgement(score, { endpoint, coverage: wholeCoverage(request) });
  }
}
