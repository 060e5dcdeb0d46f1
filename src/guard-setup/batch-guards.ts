import { join } from 'node:path';
import type { BatchResults, RunConfig } from '../config/run-config.ts';
import { Failure } from '../domain/failure.ts';
import type { GuardPolicy } from '../domain/guard/guard-policy.ts';
import type { Modality } from '../domain/request.ts';
import { quoteName } from '../domain/text/escape-text.ts';
import { readWholeFile } from '../files/open-file.ts';
import { finalCodeOf } from '../guard/faults/final-code.ts';
import type { AnsweredGuard } from '../guard/openai/batch/answered-guard.ts';
import { BATCH_FILES } from '../guard/openai/batch/request-files.ts';
import { BatchPool } from '../guard/openai/batch/batch-pool.ts';
import { openAnswered } from '../guard/openai/batch/open-answered.ts';
import type { RequestFiles } from '../guard/openai/batch/request-files.ts';
import { keysIn } from '../guard/openai/batch/request-id.ts';
import { ResultFiles } from '../guard/openai/batch/result-files.ts';
import type { GuardSession } from '../guard/pool/guard-session.ts';
import { CallError } from '../guard/protocol/call-error.ts';
import type { CallOptions } from '../guard/protocol/connection.ts';
import { NotUsable } from '../guard/protocol/not-usable.ts';
import { requestKindOf } from '../guard/tensors/encode-request.ts';
import { transportOf } from '../guard/transports/transports.ts';
import { Canaries } from './canaries/canaries.ts';
import { readCanaries } from './canaries/canary-set.ts';

type BatchConfig = Pick<RunConfig, 'guards' | 'expectFingerprint'> & {
  /** Null or left out: none. */
  readonly guardPolicy?: GuardPolicy | null;
  /** Left out: the guard is not checked. */
  readonly canaries?: RunConfig['canaries'];
};

/** A million requests have 16 MB of keys. */
const MAX_KEYS_BYTES = 256 * 1024 * 1024;

/** For nothing is waited. */
const TIMEOUT_MS = 60_000;

/**
 * The guard of a run as a pool that writes its requests, those of the canaries among them. Failure('usage') unless the run
 * has one guard, which has an OpenAI-compatible address.
 */
export async function batchRequests(
  config: BatchConfig,
  files: RequestFiles,
  signal: AbortSignal,
): Promise<BatchPool> {
  const { endpoint, guard, call } = await opened(config, files, signal);
  const canaries = (await readCanaries(config.canaries ?? { from: 'off' }, signal)) ?? [];
  const check = async (modality: Modality): Promise<void> => {
    const requests = canaries.map(({ request }) => request).filter((one) => one.modality === modality);
    for (const request of requests)
      if (guard.takes(requestKindOf(request))) await guard.judge({ request, sessionId: '' }, call);
  };
  return new BatchPool({ endpoint, guard, check: once(check), canaries: [], isAnswered: false });
}

/**
 * The guard of a run as a pool that takes its answers from the results of a batch. `say` gets one line that counts them.
 * Failure('usage') as `batchRequests`, and for files that cannot be read or have changed; Failure('service') when the
 * answers to the canaries show that the guard cannot be trusted.
 */
export async function batchResults(
  config: BatchConfig,
  { folder, files }: BatchResults,
  signal: AbortSignal,
  say: (line: string) => void,
): Promise<GuardSession> {
  const results = await ResultFiles.open(keysIn(await keysOf(folder)), files, signal);
  try {
    const { requests, answered, duplicates, unknown, unreadable } = results.counts;
    const others = [
      [requests - answered, 'without a result'],
      [duplicates, 'duplicate results'],
      [unknown, 'results of other requests'],
      [unreadable, 'unreadable lines'],
    ] as const;
    const told = others.flatMap(([count, what]) =>
      count === 0 ? [] : [`${count.toLocaleString('en-US')} ${what}`],
    );
    const found = `${answered.toLocaleString('en-US')} of ${requests.toLocaleString('en-US')} requests have a result`;
    say([found, ...told].join('; '));
    const { endpoint, guard, call } = await opened(config, results, signal);
    const set = await readCanaries(config.canaries ?? { from: 'off' }, signal);
    const canaries = set && new Canaries(set);
    const check = once(async (modality: Modality): Promise<void> => {
      await canaries?.check(asChecked(guard), { endpoint, modality }, call);
    });
    await check('text');
    const pool = new BatchPool({
      endpoint,
      guard,
      check,
      canaries: canaries?.checks ?? [],
      isAnswered: true,
    });
    return { pool, died: new AbortController().signal, close: () => results.close() };
  } catch (error) {
    await results.close();
    throw error;
  }
}

async function opened(
  { guards, guardPolicy, expectFingerprint }: BatchConfig,
  calls: Parameters<typeof openAnswered>[1],
  signal: AbortSignal,
): Promise<{ endpoint: string; guard: AnsweredGuard; call: CallOptions }> {
  const [endpoint = '', ...others] = guards;
  if (others.length > 0 || transportOf({ name: endpoint, address: endpoint }).kind !== 'openai')
    throw new Failure('usage', 'a batch is for one guard: name it with --guard openai+https://…');
  if (expectFingerprint !== null)
    throw new Failure('usage', `guard ${endpoint} reports no fingerprint, so none can be expected`);
  const call = { timeoutMs: TIMEOUT_MS, signal };
  try {
    const guard = await openAnswered(endpoint, calls, { ...call, policy: guardPolicy ?? null });
    return { endpoint, guard, call };
  } catch (error) {
    if (!(error instanceof NotUsable)) throw error;
    throw new Failure('usage', `guard ${endpoint}: ${error.message}`, { cause: error });
  }
}

/** No answer is another one the next time. */
function asChecked(guard: AnsweredGuard): Parameters<Canaries['check']>[0] {
  return {
    takes: (requestKind) => guard.takes(requestKind),
    judge: async ([row], call) => {
      try {
        return await guard.judge(row!, call);
      } catch (error) {
        if (!(error instanceof CallError)) throw error;
        throw new CallError(error.answer, { kind: 'refused', code: finalCodeOf(error.fault), named: true });
      }
    },
    version: { read: () => Promise.resolve(guard.first) },
  };
}

function once(check: (modality: Modality) => Promise<void>): (modality: Modality) => Promise<void> {
  const done = new Map<Modality, Promise<void>>();
  return (modality) => {
    const checked = done.get(modality) ?? check(modality);
    done.set(modality, checked);
    return checked;
  };
}

async function keysOf(folder: string): Promise<Buffer> {
  const path = join(folder, BATCH_FILES.keys);
  try {
    return await readWholeFile(path, { maxBytes: MAX_KEYS_BYTES, links: 'refuse' });
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new Failure('usage', `${quoteName(path)} cannot be read (${code}): batch export wrote it`, {
      cause,
    });
  }
}
