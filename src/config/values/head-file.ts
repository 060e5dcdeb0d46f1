import { dirname, resolve } from 'node:path';
import { openForAppending } from '../../files/create-file.ts';
import { runDirectoryAround } from '../../files/outside-runs.ts';
import { mistake, type Located } from '../mistake.ts';

/**
 * The absolute path of a file of chain heads. Creates the file, so that one that cannot be written is known at the
 * start. Failure('usage') when it cannot be written, or is in a run directory.
 */
export async function headFileAt({ value, place }: Located<string>, folder: string): Promise<string> {
  const path = resolve(folder, value);
  const around = await runDirectoryAround(path);
  if (around !== null) {
    throw mistake(
      place,
      `${path} is in the run directory ${around}: keep heads where others cannot change them`,
    );
  }
  try {
    await (await openForAppending(path)).close();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    const what =
      code === 'ENOENT' ? `there is no folder ${dirname(path)}` : `${path} cannot be written (${code})`;
    throw mistake(place, what, error);
  }
  return path;
}
