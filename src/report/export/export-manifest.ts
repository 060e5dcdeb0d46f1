import type { Policy } from '../../domain/policy.ts';
import type { OutputFile, WrittenFile } from './output.ts';

/** The run that an export was made from, and its policy. */
interface ExportOrigin {
  readonly run: string;
  /** SHA-256 of the manifest of the run. */
  readonly manifest_sha256: string;
  readonly policy: Policy;
}

interface ExportEnd {
  readonly rows: { readonly kept: number; readonly rejected: number };
  readonly by_reason: Readonly<Record<string, number>>;
  /** The list of excluded rows and sources. */
  readonly rejected: WrittenFile;
}

/** Writes the manifest of an export: one JSON object with every file that was written and its hash. */
export class ExportManifest {
  readonly #file: OutputFile;
  #files = 0;

  private constructor(file: OutputFile) {
    this.#file = file;
  }

  static async begin(file: OutputFile, origin: ExportOrigin): Promise<ExportManifest> {
    await file.write(`${JSON.stringify({ schema: 1, ...origin }).slice(0, -1)},"files":[`);
    return new ExportManifest(file);
  }

  /** Adds a file; `path` is relative to the output folder, or the name of the output file. */
  async file(
    entry: { readonly path: string; readonly source: string; readonly rows: number } & WrittenFile,
  ): Promise<void> {
    await this.#file.write(`${this.#files++ === 0 ? '\n' : ',\n'}${JSON.stringify(entry)}`);
  }

  async end(end: ExportEnd): Promise<void> {
    await this.#file.write(`\n],${JSON.stringify(end).slice(1)}\n`);
    await this.#file.complete();
  }

  /** Safe after any other call. */
  close(): Promise<void> {
    return this.#file.close();
  }
}
