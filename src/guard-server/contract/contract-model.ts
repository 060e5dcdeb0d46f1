import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { submittedTurns, type UnaryRequest } from '../../domain/request.ts';
import { CACHE_USAGE_WIDTH } from '../../guard/tensors/protocol.ts';
import { readContents, readSession } from './contents.ts';
import type { Execution, Model, OutputTensor, ModelReply } from './model.ts';
import { verdictTensors, versionTensors, type RowVerdict } from './output-tensors.ts';
import type { Probe, ProbeScores } from './probe.ts';
import { refused, RequestError } from './request-error.ts';
import { type CacheCounts, SessionCache } from './session-cache.ts';
import type { TensorRequest } from './tensor-request.ts';

/** Between two contents, judging yields to the event loop after this time, in milliseconds. */
const SLICE_MS = 5;

/** A request before its sessions are looked up. */
type Judged = 'version' | readonly JudgedRow[];

interface JudgedRow {
  readonly content: UnaryRequest;
  readonly scores: ProbeScores;
  /** SESSION_ID of a conversation; null if it has none. */
  readonly session: string | null;
}

const NO_CACHE_USAGE: readonly number[] = new Array<number>(CACHE_USAGE_WIDTH).fill(0);

export interface ContractOptions {
  readonly version: string;
  readonly contextTokens: number;
  /** Return scores of all categories for all content, not only for flagged content; default false. */
  readonly allScores?: boolean;
}

/**
 * Artifact of a guard that returns more than the contract requires: its verdicts are not interchangeable with others.
 */
const OUTPUTS_ARTIFACT = 'lite-outputs';
const ALL_SCORES = 'all category scores for every content';

/**
 * Implements the guard's contract on a probe: validates requests, fails bad ones individually, encodes verdicts and
 * hashes.
 */
export class ContractModel implements Model {
  readonly version: string;
  readonly #probe: Probe;
  readonly #contextTokens: number;
  readonly #allScores: boolean;
  readonly #artifacts: Readonly<Record<string, string>>;
  readonly #sessions = new SessionCache();

  constructor(probe: Probe, options: ContractOptions) {
    this.version = options.version;
    this.#probe = probe;
    this.#contextTokens = options.contextTokens;
    this.#allScores = options.allScores ?? false;
    this.#artifacts = this.#allScores
      ? { ...probe.artifacts, [OUTPUTS_ARTIFACT]: createHash('sha256').update(ALL_SCORES).digest('hex') }
      : probe.artifacts;
  }

  get cacheTotals(): CacheCounts {
    return this.#sessions.totals;
  }

  async execute({ requests }: Execution): Promise<ModelReply[]> {
    const slice = new Slice();
    const judged: (Judged | RequestError)[] = [];
    for (const request of requests) judged.push(await this.#judge(request, slice));
    // From here on, no request fails: one that is rejected, or fails with its execution, must not write to a session.
    const replies: ModelReply[] = [];
    for (const [index, request] of requests.entries()) {
      const result = judged[index]!;
      if (result instanceof RequestError) replies.push({ outputs: null, error: result });
      else {
        const outputs = await this.#outputs(request, result, slice);
        replies.push({ outputs, modelVersion: this.version, error: null });
      }
    }
    return replies;
  }

  async #judge(request: TensorRequest, slice: Slice): Promise<Judged | RequestError> {
    try {
      const contents = readContents(request, this.#contextTokens);
      if (contents === 'version') return 'version';
      const rows: JudgedRow[] = [];
      for (const [row, content] of contents.entries()) {
        const session = content.requestType === 'multiturn' ? readSession(request, row) : null;
        const scores = await this.#probe.judge(content);
        if ('refusal' in scores) return refused(request.id, scores.refusal, scores.text);
        rows.push({ content, scores, session });
        if (slice.isOver()) await slice.next();
      }
      return rows;
    } catch (error) {
      if (error instanceof RequestError) return error;
      throw error;
    }
  }

  async #outputs(request: TensorRequest, judged: Judged, slice: Slice): Promise<OutputTensor[]> {
    if (judged === 'version') return versionTensors(request, this.#artifacts);
    const verdicts: RowVerdict[] = [];
    for (const [row, { content, scores, session }] of judged.entries()) {
      let cacheUsage = NO_CACHE_USAGE;
      if (content.requestType === 'multiturn' && session !== null) {
        cacheUsage = this.#sessions.use(session, submittedTurns(content), request.cacheWrite?.[row] ?? true);
        if (slice.isOver()) await slice.next();
      }
      verdicts.push({ scores, cacheUsage });
    }
    return verdictTensors(request, verdicts, this.#allScores);
  }
}

/** A time slice on the event loop; `next` yields to other work and starts another slice. */
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
