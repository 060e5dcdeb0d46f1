import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { listFolder } from '../../files/folders.ts';
import type { RunRecord } from '../../config/run-config.ts';
import { DISK_FULL_RETRY_MS, retryWhileDiskFull, type DiskFullPolicy } from '../../files/disk-full.ts';
import { makeFolders, syncDirectory, writeAt } from '../../files/durable-write.ts';
import { RUN_FILES, commitsName, epochOfTemporary } from '../../files/run-files.ts';
import type { Chain } from '../../record/log/chain.ts';
import { encodeChainLine, lineHash, type ClaimLine } from '../../record/log/chain-line.ts';
import { supersededOr, takeNextEpoch } from './take-epoch.ts';
import { LogWriter } from './log-writer.ts';
import { assertLogIsThere, recoverChain } from './recover-chain.ts';

/** A new segment begins at this size, in bytes. */
const SEGMENT_BYTES = 256 * 1024 * 1024;

/** Checks of the log that take longer than this are reported, in milliseconds. */
const LONG_CHECK_MS = 3000;

export interface ClaimOptions {
  readonly signal: AbortSignal;
  /** Takes one human-readable line: the disk is full and commits wait, or there is space again. */
  readonly report: DiskFullPolicy['report'];
  /** When the work to be committed began, ISO 8601, UTC; default: now. */
  readonly since?: string | undefined;
  /** How long commits wait for disk space, in milliseconds; default: the run's `maxWaitMs`. */
  readonly maxWaitMs?: number;
  /** Retry interval while the disk is full, in milliseconds; default 3 s. */
  readonly retryEveryMs?: number;
  /** In bytes; default 256 MiB. */
  readonly segmentBytes?: number;
}

/**
 * Takes over writing a run's verdict log from the previous writer. The order of the steps ensures that no acknowledged
 * commit is lost:
 * 1. take the next epoch: from then on the previous writer's commits fail;
 * 2. remove the temporary final files of earlier epochs, so that they can no longer be renamed;
 * 3. read the chain, without the torn end that a crash leaves;
 * 4. write the claim, which names that position. Until then the epoch is void: a crash loses nothing.
 *
 * Throws Failure('internal') with the location and what to do when the log fails verification, Failure('service') when
 * the disk stays full, Failure('superseded') when the record fails verification because a later epoch was taken in the
 * meantime.
 */
export async function claimLog(runDir: string, record: RunRecord, options: ClaimOptions): Promise<LogWriter> {
  const logDir = join(runDir, RUN_FILES.log);
  await assertLogIsThere(runDir, options.signal);
  const diskFull: DiskFullPolicy = {
    signal: options.signal,
    maxWaitMs: options.maxWaitMs ?? record.config.maxWaitMs,
    retryEveryMs: options.retryEveryMs ?? DISK_FULL_RETRY_MS,
    report: options.report,
  };
  const take = async (): ReturnType<typeof takeNextEpoch> => {
    await makeFolders(logDir);
    return takeNextEpoch(runDir);
  };
  const { epoch, commits } = await retryWhileDiskFull('the verdict log', take, diskFull);
  try {
    await removeTemporaries(runDir, epoch);
    const chain = await checkedChain(runDir, epoch, options);
    const { position } = chain;
    const claim: ClaimLine = {
      claim: epoch,
      continues: { epoch: position.epoch, lines: position.lines, head: position.head },
      at: new Date().toISOString(),
      ...(options.since === undefined ? {} : { since: options.since }),
    };
    const line = encodeChainLine(claim);
    const bytes = Buffer.from(`${line}\n`);
    const write = async (): Promise<void> => {
      await writeAt(commits, bytes, 0);
      await commits.datasync();
      await syncDirectory(logDir);
    };
    await retryWhileDiskFull(`log/${commitsName(epoch)}`, write, diskFull);
    return new LogWriter({
      runDir,
      record,
      epoch,
      chain,
      commits,
      end: { bytes: bytes.length, head: lineHash(line) },
      diskFull,
      segmentBytes: options.segmentBytes ?? SEGMENT_BYTES,
    });
  } catch (error) {
    await commits.close();
    throw await supersededOr(error, runDir, epoch);
  }
}

/** Recovers the chain. This hashes every committed byte and reports it if it takes long. */
async function checkedChain(runDir: string, epoch: number, { signal, report }: ClaimOptions): Promise<Chain> {
  const say = (): void =>
    report('Checking the committed outcomes before continuing; for a large run this takes minutes', false);
  const timer = setTimeout(say, LONG_CHECK_MS);
  try {
    return await recoverChain(runDir, epoch, signal);
  } finally {
    clearTimeout(timer);
  }
}

async function removeTemporaries(runDir: string, below: number): Promise<void> {
  for (const name of await listFolder(runDir)) {
    const epoch = epochOfTemporary(name);
    if (epoch !== null && epoch < below) await rm(join(runDir, name), { force: true });
  }
}
