import { chunkCoverage, type Coverage, wholeCoverage } from '../../domain/coverage.ts';
import { generationVerdict } from '../../domain/generation/generation-verdict.ts';
import type { Judgement } from '../../domain/outcome.ts';
import { retryMs } from '../../flow/backoff.ts';
import { CallError } from '../protocol/call-error.ts';
import type { Answer } from '../protocol/answer.ts';
import type { CallOptions, Reading, ReadyGuard, Reply } from '../protocol/connection.ts';
import { notUsable, NotUsable } from '../protocol/not-usable.ts';
import type { Task } from '../tasks/task.ts';
import { type Load, VersionBrackets } from '../versions/version-brackets.ts';
import type { EndpointEvents } from './events.ts';
import type { Flight } from './in-flight.ts';
import type { OwnedTasks } from './owned-tasks.ts';

/** After this many consecutive failed version readings, the endpoint is taken out of use. */
const MAX_FAILED = 3;

/** Answers of one reply. They become verdicts once it is known which model gave them. */
interface PendingVerdicts {
  readonly tasks: readonly Task[];
  /** Answer i belongs to task i. */
  readonly answers: readonly Answer[];
  readonly latencyMs: number;
  /** ISO 8601, UTC. */
  readonly moderatedAt: string;
}

interface VerdictsOptions {
  /** Name as recorded in outcomes. */
  readonly endpoint: string;
  /** Null if verdicts need not name a model, or the guard does not report it; answers then become verdicts at once. */
  readonly version: ReadyGuard['version'];
  /** Whether the endpoint goes out of use when its model changes, because the new one must be checked first. */
  readonly heldWhenChanged: boolean;
  /** Used for version readings. */
  readonly calls: CallOptions;
  readonly load: () => Load;
  readonly tasks: OwnedTasks;
  readonly events: Pick<EndpointEvents, 'approveModel' | 'down' | 'crashed'>;
  /** Called when requests may be sent again, after a change of model was suspected. */
  readonly wake: () => void;
}

/** Turns the answers of one endpoint into verdicts that name the model. */
export class Verdicts {
  /** Null for verdicts that name no model. */
  readonly brackets: VersionBrackets<PendingVerdicts> | null;
  readonly #options: VerdictsOptions;

  constructor(options: VerdictsOptions) {
    this.#options = options;
    const { version, calls, load } = options;
    this.brackets =
      version &&
      new VersionBrackets(version.first, {
        read: () => version.read(calls),
        load,
        approve: (reading) => this.#approve(reading, version.first),
        failed: (error, inRow) => this.#readingFailed(error, inRow),
        stamped: (all, fingerprintId) => {
          for (const pending of all) this.#settle(pending, fingerprintId);
        },
        voided: (all) => {
          for (const { tasks } of all) this.#judgeAgain(tasks);
        },
      });
  }

  /** Takes the valid answers of a reply. Returns the tasks without one, and whether any task has one. */
  replied(flight: Flight, { answers, modelVersion }: Reply): { invalid: Task[]; anyValid: boolean } {
    const invalid: Task[] = [];
    const tasks: Task[] = [];
    const valid: Answer[] = [];
    for (const [index, task] of flight.tasks.entries()) {
      if (task.abandoned) continue;
      const answer = answers?.[index] ?? null;
      if (answer === null) {
        invalid.push(task);
        continue;
      }
      task.clearSuspicion();
      tasks.push(task);
      valid.push(answer);
    }
    if (this.brackets?.replied(flight.epoch, modelVersion) === false) this.#judgeAgain(tasks);
    else if (tasks.length > 0) this.#keep(tasks, valid, flight);
    return { invalid, anyValid: tasks.length > 0 };
  }

  #keep(tasks: readonly Task[], answers: readonly Answer[], { epoch, sentAt }: Flight): void {
    const latencyMs = Math.round((performance.now() - sentAt) * 100) / 100;
    const pending = { tasks, answers, latencyMs, moderatedAt: new Date().toISOString() };
    for (const task of tasks) {
      task.state = 'answered';
      this.#options.tasks.advance(task);
    }
    if (this.brackets === null) this.#settle(pending, null);
    else this.brackets.keep(pending, epoch);
  }

  #settle(pending: PendingVerdicts, fingerprint: string | null): void {
    const { endpoint, tasks } = this.#options;
    const { latencyMs, moderatedAt } = pending;
    const shared = { fingerprint, endpoint, latencyMs, moderatedAt };
    for (const [index, task] of pending.tasks.entries()) {
      if (task.abandoned) continue;
      tasks.release(task);
      task.settle({ judgement: judgementOf(task, pending.answers[index]!, shared), failure: null });
    }
  }

  #judgeAgain(tasks: readonly Task[]): void {
    for (const task of tasks) if (!task.abandoned) this.#options.tasks.judgeAgain(task);
  }

  #approve(reading: Reading, first: Reading): boolean {
    const { heldWhenChanged, events, wake } = this.#options;
    if (!events.approveModel(reading)) return false;
    if (heldWhenChanged && reading.fingerprint.id !== first.fingerprint.id) {
      events.down({ reason: 'model changed' });
      return false;
    }
    wake();
    return true;
  }

  /**
   * Returns when to retry a failed reading: overloads without limit, other retryable errors up to MAX_FAILED times in a
   * row.
   */
  #readingFailed(error: unknown, inRow: number): number | null {
    const { calls, events } = this.#options;
    const fault = error instanceof CallError ? error.fault : null;
    const what = notUsable(error, calls);
    if (!(what instanceof NotUsable)) {
      events.crashed(error);
      return null;
    }
    const isRetryable = fault?.kind === 'attempt' || fault?.kind === 'execution';
    if (fault?.kind === 'overload' || (isRetryable && inRow < MAX_FAILED)) return retryMs(inRow);
    const reached = fault?.kind === 'endpoint' && fault.reached;
    events.down({ reason: what.reason, fatal: fault?.kind === 'barred' && fault.fatal, reached });
    return null;
  }
}

/** Common fields of the verdicts of one reply. */
type Shared = Pick<Judgement, 'fingerprint' | 'endpoint' | 'latencyMs' | 'moderatedAt'>;

/** Hot path: every key is spelled out, because an object spread costs more than the rest. */
function judgementOf(task: Task, answer: Answer, shared: Shared): Judgement {
  const { request } = task;
  const { score, flagged, subcategoryScores, subcategoryFlags, cacheUsage, stream } = answer;
  const isGeneration = request.requestType === 'generation' && stream !== undefined;
  return {
    score,
    flagged,
    subcategoryScores,
    subcategoryFlags,
    fingerprint: shared.fingerprint,
    endpoint: shared.endpoint,
    latencyMs: shared.latencyMs,
    attempts: task.attempts + 1,
    cacheUsage,
    moderatedAt: shared.moderatedAt,
    coverage: isGeneration ? chunkCoverage(request.chunks, stream.judgedChunks) : coverageOf(task),
    stream: isGeneration ? generationVerdict(request.chunks, stream) : null,
  };
}

/**
 * Coverage of a task. A text with as many UTF-8 bytes as UTF-16 code units is ASCII: its code points need not be
 * counted.
 */
function coverageOf({ request, bytes }: Task): Coverage {
  if (request.requestType === 'prompt' && request.modality === 'text' && request.text.length === bytes) {
    return { unit: 'chars', judged: bytes, total: bytes, worst_at: null };
  }
  return wholeCoverage(request);
}
