import { setImmediate } from 'node:timers/promises';
import { history } from '../../domain/request.ts';
import { CACHE_USAGE_WIDTH } from '../../guard/tensors/protocol.ts';
import { readContents, readSession } from './contents.ts';
import type { Execution, Model, OutputTensor, Reply } from './model.ts';
import { verdictTensors, versionTensors, type RowVerdict } from './output-tensors.ts';
import type { Probe } from './probe.ts';
import { refused, RequestError } from './request-error.ts';
import { type CacheCounts, SessionCache } from './session-cache.ts';
import type { TensorRequest } from './tensor-request.ts';

/** Between two contents, judging yields to the event loop after this time, in milliseconds. */
const SLICE_MS = 5;

const NO_CACHE_USAGE: readonly number[] = new Array<number>(CACHE_USAGE_WIDTH).fill(0);

/** Implements the guard's contract on a probe: validates requests, fails bad ones individually, encodes verdicts and hashes. */
export class ContractModel implements Model {
  readonly version: string;
  readonly #probe: Probe;
  readonly #contextTokens: number;
  readonly #sessions = new SessionCache();

  constructor(probe: Probe, options: { version: string; contextTokens: number }) {
    this.version = options.version;
    this.#probe = probe;
    this.#contextTokens = options.contextTokens;
  }

  get cacheTotals(): CacheCounts {
    return this.#sessions.totals;
  }

  async execute({ requests }: Execution): Promise<Reply[]> {
    const replies: Reply[] = [];
    const slice = new Slice();
    for (const request of requests) {
      try {
        const outputs = await this.#answer(request, slice);
        replies.push({ outputs, modelVersion: this.version, error: null });
      } catch (error) {
        if (!(error instanceof RequestError)) throw error;
        replies.push({ outputs: null, error });
      }
    }
    return replies;
  }

  async #answer(request: TensorRequest, slice: Slice): Promise<OutputTensor[]> {
    const contents = readContents(request, this.#contextTokens);
    if (contents === 'version') return versionTensors(request, this.#probe.artifacts);
    const rows: RowVerdict[] = [];
    for (const [row, content] of contents.entries()) {
      const scores = await this.#probe.judge(content);
      if ('refusal' in scores) throw refused(request.id, scores.refusal, scores.text);
      let cacheUsage = NO_CACHE_USAGE;
      const session = content.requestType === 'multiturn' ? readSession(request, row) : null;
      if (content.requestType === 'multiturn' && session !== null) {
        cacheUsage = this.#sessions.use(session, history(content), request.cacheWrite?.[row] ?? true);
      }
      rows.push({ scores, cacheUsage });
      if (slice.isOver()) await slice.next();
    }
    return verdictTensors(request, rows);
  }
}

/** A time slice on the event loop; `next` yields to other work and starts another. */
class Slice {
  #endsAt = performance.now() + SLICE_MS;

  isOver(): boolean {
    return performance.now() > this.#endsAt;
  }

  async next(): Promise<void> {
    await setImmediate();
    this.#endsAt = performance.now() + SLICE_MS;
  }
}
