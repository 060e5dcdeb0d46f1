import { resolve } from 'node:path';
import picomatch from 'picomatch';
import { isInside, realPath } from '../../files/open-inside.ts';
import { decodePath } from '../../domain/file-path.ts';

/** The folders that the dashboard may read content from. */
export class Roots {
  /** As given, absolute. */
  readonly folders: readonly string[];
  /** With links resolved; in the recorded form. */
  readonly #real: readonly string[];

  private constructor(folders: readonly string[], real: readonly string[]) {
    this.folders = folders;
    this.#real = real;
  }

  /** Rejects with the system's error for a folder that is not there. */
  static async open(folders: readonly string[]): Promise<Roots> {
    return new Roots(folders, await Promise.all(folders.map(realPath)));
  }

  /** Whether a path, of which all links are resolved, is in one of them. */
  containsReal(real: string): boolean {
    return this.#real.some((folder) => isInside(real, folder));
  }

  /** Whether a file, folder or glob is in one of them once its links are resolved; false for one that is not there. */
  async contains(path: string): Promise<boolean> {
    const named = await realPath(path).catch(() => null);
    if (named !== null) return this.containsReal(named);
    const { base, isGlob } = picomatch.scan(path);
    const real = isGlob ? await realPath(base).catch(() => null) : null;
    // What a glob matches is followed no further than its own folder, see ingest/discover.
    return real !== null && this.containsReal(real);
  }

  /** A path that a person typed: absolute, or relative to the first folder. */
  absolute(path: string): string {
    return resolve(decodePath(this.folders[0]!).toString(), path);
  }
}
