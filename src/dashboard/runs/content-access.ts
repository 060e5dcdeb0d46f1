import picomatch from 'picomatch';
import type { RunRecord } from '../../config/run-config.ts';
import { escapeText } from '../../domain/text/escape-text.ts';
import { isInside, realPath } from '../../files/open-inside.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { readRunFile } from '../../record/read-run-file.ts';
import { readRunKey } from '../../runs/trust/run-key.ts';
import { isSealed } from '../../runs/trust/run-seal.ts';

/** Decides which content the dashboard may read. */
export class ContentAccess {
  /** Roots with links resolved, as encoded paths. */
  readonly #roots: readonly string[];
  readonly #keyFile: string | null;

  private constructor(roots: readonly string[], keyFile: string | null) {
    this.#roots = roots;
    this.#keyFile = keyFile;
  }

  /**
   * `roots` are absolute folders from which content may be read, `keyFile` is the path of this user's key file (see
   * runKeyFile). Rejects with the system's error if a folder does not exist.
   */
  static async open(roots: readonly string[], keyFile: string | null): Promise<ContentAccess> {
    return new ContentAccess(await Promise.all(roots.map(realPath)), keyFile);
  }

  /** Whether a path, with all links resolved, is inside a root. */
  containsReal(real: string): boolean {
    return this.#roots.some((folder) => isInside(real, folder));
  }

  /** Whether this user created the run on this machine or trusts it. Other runs could name arbitrary files. */
  async isTrusted(dir: string, runJson: Buffer): Promise<boolean> {
    const key = await readRunKey(this.#keyFile);
    return key !== null && isSealed(dir, runJson, key);
  }

  /** Reason why the sources of a run may not be read; null if they may. */
  async refusal(dir: string, { config }: RunRecord): Promise<string | null> {
    if (!(await this.isTrusted(dir, await readRunFile(dir, RUN_FILES.run))))
      return 'this run was not created by you on this machine';
    for (const { path } of config.sources) {
      if (!(await this.#contains(path)))
        return `${escapeText(path)} does not exist, or is outside the folders that the dashboard may read (--root)`;
    }
    return null;
  }

  /** Whether a file, folder or glob exists inside a root, with its links resolved. */
  async #contains(path: string): Promise<boolean> {
    const named = await realPath(path).catch(() => null);
    if (named !== null) return this.containsReal(named);
    const { base, isGlob } = picomatch.scan(path);
    const real = isGlob ? await realPath(base).catch(() => null) : null;
    // Links below a glob that lead out of its folder are not followed, see ingest/discover.
    return real !== null && this.containsReal(real);
  }
}
