import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { restoreFingerprint } from '../../domain/fingerprint.ts';
import type { OutcomeLine } from '../../domain/outcome.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { readManifest, type Manifest } from '../../record/manifest/manifest.ts';
import { parseOutcomeLine } from '../../record/outcomes/outcome-schema.ts';
import { readOutcomeFile } from '../../record/outcomes/read-outcome-file.ts';
import { readRunFile } from '../../record/read-run-file.ts';
import { checkHashes } from '../../record/verify/verify-files.ts';
import type { JudgedVerdicts, Verdict } from '../../store/verdicts.ts';
import { readRunRecord } from '../open-run.ts';
import { isSealed } from '../trust/run-seal.ts';
import type { Judging } from '../../config/run-config.ts';
import { NORMALIZATION } from '../../domain/normalization.ts';

/** Reads the runs of an output folder from which a verdict store can be built. */
export class RecordedRuns {
  readonly #out: string;
  readonly #key: Buffer | null;
  readonly #read: string[] = [];
  readonly #others: string[] = [];

  /** `key` is this user's run key. Runs that it does not seal are skipped; without a key, all are. */
  constructor(out: string, key: Buffer | null) {
    this.#out = out;
    this.#key = key;
  }

  /** Names of the runs that `verdicts` has read. */
  get read(): readonly string[] {
    return this.#read;
  }

  /** Names of this user's runs that were skipped: they are not finished, or their records failed verification. */
  get others(): readonly string[] {
    return this.#others;
  }

  /**
   * The verdicts of all finished runs whose records are valid in the parts read: the manifest has the hash that was
   * noted for it, run.json and verdicts.jsonl have the hashes that the manifest names. Later runs come later. Rejects
   * with the signal's reason when aborted.
   */
  async *verdicts(signal: AbortSignal): AsyncGenerator<JudgedVerdicts, void> {
    this.#read.length = 0;
    this.#others.length = 0;
    for (const name of await this.#names()) {
      signal.throwIfAborted();
      const dir = join(this.#out, name);
      const record = await readRunRecord(dir);
      if (record?.run !== name || !(await this.#isOwn(dir))) continue;
      try {
        const manifest = await readManifest(dir);
        const files = manifest.files.filter(
          ({ path }) => path === RUN_FILES.run || path === RUN_FILES.verdicts,
        );
        await checkHashes(dir, { ...manifest, files }, signal);
        const judging = judgingText(record.config.judging);
        for await (const lines of readOutcomeFile(dir, RUN_FILES.verdicts, {
          signal,
          parse: parseOutcomeLine,
        }))
          yield* verdictsOf(lines, judging, manifest);
        this.#read.push(name);
      } catch {
        signal.throwIfAborted();
        this.#others.push(name);
      }
    }
  }

  /** Names begin with the run's creation time. */
  async #names(): Promise<string[]> {
    const names: string[] = [];
    try {
      for await (const entry of await opendir(this.#out)) if (entry.isDirectory()) names.push(entry.name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    return names.sort();
  }

  async #isOwn(dir: string): Promise<boolean> {
    return this.#key === null || isSealed(dir, await readRunFile(dir, RUN_FILES.run), this.#key);
  }
}

/** The verdicts among outcome lines, grouped by the run that judged them. */
function* verdictsOf(
  lines: readonly OutcomeLine[],
  judging: string,
  manifest: Manifest,
): Generator<JudgedVerdicts, void> {
  const fingerprints = manifest.fingerprints.flatMap(({ artifacts }) => restoreFingerprint(artifacts) ?? []);
  const byRun = new Map<string, Verdict[]>();
  for (const line of lines) {
    const verdict = recordedVerdict(line);
    if (verdict === null) continue;
    const run = line.reused_from ?? line.run;
    const verdicts = byRun.get(run);
    if (verdicts === undefined) byRun.set(run, [verdict]);
    else verdicts.push(verdict);
  }
  for (const [run, verdicts] of byRun) yield { run, judging, fingerprints, verdicts };
}

/** The verdict of an outcome line; null for an error and for a verdict that is never reused. */
function recordedVerdict(line: OutcomeLine): Verdict | null {
  const { score, flagged, endpoint, coverage, content_sha256: contentSha256 } = line;
  if (contentSha256 === null || line.fingerprint === null) return null;
  if (score === null || flagged === null || endpoint === null || coverage === null || line.stream !== null)
    return null;
  const judgement = {
    score,
    flagged,
    subcategoryScores: line.subcategory_scores,
    subcategoryFlags: line.subcategory_flags,
    fingerprint: line.fingerprint,
    endpoint,
    latencyMs: line.latency_ms ?? 0,
    attempts: line.attempts,
    cacheUsage: line.cache_usage,
    moderatedAt: line.moderated_at,
    coverage,
    stream: null,
  };
  return { contentSha256, judgement };
}

/** Canonical text of everything that a verdict depends on except content and model. */
export function judgingText({ frames, longAudio, videoInterval, videoFrames }: Judging): string {
  return JSON.stringify({ frames, longAudio, videoInterval, videoFrames, normalization: NORMALIZATION });
}
