import { createHash } from 'node:crypto';
import { wholeCoverage } from '../../../src/domain/coverage.ts';
import type { Outcome } from '../../../src/domain/outcome.ts';
import { submittedTurns, type GuardRequest } from '../../../src/domain/request.ts';
import type { Judge } from '../../../src/moderate/parts/judge-parts.ts';
import { failed } from '../../record/shards.ts';
import { judgement, MODEL } from '../moderation.ts';

/** All that a request sends, one text after another. */
function textsOf(request: GuardRequest): readonly string[] {
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

interface SmallGuardOptions {
  /** Default: one that depends on every character. */
  readonly score?: (texts: string) => number;
  /** Default: the one of the model. */
  readonly fingerprint?: () => string | null;
}

const hashed = (texts: string): number =>
  createHash('sha256').update(texts).digest().readUInt32BE() / 2 ** 32;

/** A guard with a context of a few tokens. */
export class SmallGuard implements Judge {
  readonly fingerprints = new Map([[MODEL.id, MODEL]]);
  /** What was judged since something was last refused. */
  judged: GuardRequest[] = [];
  readonly #context: number;
  readonly #options: SmallGuardOptions;

  /** The size of the context in tokens. */
  constructor(context: number, options: SmallGuardOptions = {}) {
    this.#context = context;
    this.#options = options;
  }

  async judge(requests: readonly GuardRequest[], { signal }: { signal: AbortSignal }): Promise<Outcome[]> {
    signal.throwIfAborted();
    await Promise.resolve();
    signal.throwIfAborted();
    const outcomes = requests.map((request) => this.#answer(request));
    const refused = outcomes.some(({ failure }) => failure !== null);
    this.judged = refused ? [] : [...this.judged, ...requests];
    return outcomes;
  }

  #answer(request: GuardRequest): Outcome {
    const texts = textsOf(request);
    if (texts.some((text) => text.trim() === '')) return failed('EMPTY_CONTENT');
    if (request.requestType === 'multiturn' && submittedTurns(request).at(-1)![0] === 'system') {
      return failed('INVALID_CONVERSATION');
    }
    if (texts.reduce((sum, text) => sum + tokens(text), 0) > this.#context) {
      return failed('SEQUENCE_OVERFLOW');
    }
    const { score = hashed, fingerprint = () => MODEL.id } = this.#options;
    const coverage = wholeCoverage(request);
    return judgement(score(JSON.stringify(texts)), { endpoint: 'one', coverage, fingerprint: fingerprint() });
  }
}
