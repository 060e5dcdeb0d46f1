import { join } from 'node:path';
import type { AfterFinish } from '../../config/after-finish.ts';
import { isWebhook } from '../../config/values/webhook.ts';
import { Failure } from '../../domain/failure.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import type { Summary } from '../../record/summary/summary.ts';
import type { Run } from '../create-run.ts';
import { runOnFinish } from './on-finish.ts';
import { type Clock, postWebhook } from './webhook.ts';

/** How a command that works on a run ended. */
interface RunEnded {
  readonly run: Run;
  /** Exit status of the command. */
  readonly status: number;
  /** Null unless the run ended and its record is valid. */
  readonly summary: Summary | null;
}

interface TellOptions {
  readonly afterFinish: Pick<AfterFinish, 'onFinish' | 'webhookSecret'>;
  /** Absolute working directory for the command. */
  readonly cwd: string;
  /** Environment of this process; the command inherits all but our own variables. */
  readonly env: NodeJS.ProcessEnv;
  /** Aborted to give up. */
  readonly signal: AbortSignal;
  /** Default: the clock of this machine. */
  readonly clock?: Clock;
}

/** Time left for the command of a process that was told twice to end, in milliseconds. */
const AT_ONCE_MS = 10_000;

/**
 * Notifies the program or the webhook of `onFinish` how the work on a run ended: as JSON without content. Returns what
 * went wrong with it, which never counts as the run's failure; null if nothing did.
 */
export async function tellEnd(ended: RunEnded, options: TellOptions): Promise<Failure | null> {
  const { afterFinish, cwd, env, clock } = options;
  const { onFinish: command, webhookSecret } = afterFinish;
  if (command.length === 0) return null;
  const { run, status, summary } = ended;
  const signal = options.signal.aborted ? AbortSignal.timeout(AT_ONCE_MS) : options.signal;
  const input = `${JSON.stringify(noticeOf(ended))}\n`;
  try {
    if (isWebhook(command[0]!)) {
      const post = { url: command[0]!, secret: webhookSecret!, body: input, signal };
      await postWebhook(post, clock);
    } else {
      const about = {
        GUARDSWEEP_RUN: run.record.run,
        GUARDSWEEP_RUN_DIR: run.dir,
        GUARDSWEEP_PASS: String(summary?.pass ?? ''),
        GUARDSWEEP_HEAD: summary?.chain_head ?? '',
        GUARDSWEEP_STATUS: String(status),
        GUARDSWEEP_SUMMARY: summary === null ? '' : join(run.dir, RUN_FILES.summary),
      };
      await runOnFinish({ command, cwd, env, about, input, signal });
    }
    return null;
  } catch (error) {
    return error instanceof Failure ? error : new Failure('service', `${command[0]!} was given up`);
  }
}

/** Payload for the program and the webhook: names and counts. */
function noticeOf({ run, status, summary }: RunEnded): object {
  return {
    schema: 1,
    run: run.record.run,
    name: run.record.config.name,
    state: summary?.status ?? (status === 130 ? 'interrupted' : 'failed'),
    status,
    pass: summary?.pass ?? null,
    items: summary?.items ?? null,
    verdicts: summary?.verdicts ?? null,
    errors: summary?.errors ?? null,
    by_decision: summary?.by_decision ?? null,
    gates_tripped: summary?.gates.filter(({ tripped }) => tripped).map(({ gate }) => gate) ?? null,
    chain_head: summary?.chain_head ?? null,
  };
}
