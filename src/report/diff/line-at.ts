import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { OutcomeLine } from '../../domain/outcome.ts';
import { openFile } from '../../files/open-file.ts';
import { readFully } from '../../files/read-fully.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { parseOutcomeLine } from '../../record/outcomes/outcome-schema.ts';

const NEWLINE = 0x0a;
const FIRST_BYTES = 4096;

/** Reads single outcome lines of a run, by where they begin. */
export class LinesByOffset {
  readonly #file: FileHandle;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async open(runDir: string): Promise<LinesByOffset> {
    return new LinesByOffset(await openFile(join(runDir, RUN_FILES.verdicts), 'refuse'));
  }

  /** The line that begins at an offset that `placedLines` gave. */
  async at(offset: number): Promise<OutcomeLine> {
    for (let size = FIRST_BYTES; ; size *= 4) {
      const bytes = await readFully(this.#file, Buffer.allocUnsafe(size), offset);
      const end = bytes.indexOf(NEWLINE);
      if (end !== -1) return parseOutcomeLine(bytes.toString('utf8', 0, end));
      if (bytes.length < size) throw new Error(`no line begins at byte ${offset}`);
    }
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
