import { createTemporary } from '../files/create-file.ts';
import { readRecordLines } from '../files/record-lines.ts';

/** An escape of half of a surrogate pair, not preceded by a backslash that escapes its own. */
// linear: a match begins only where no backslash is before it, so a run of them is gone through once.
const LONE_SURROGATE = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;

/** Writes the lines of a file with U+FFFD in the place of halves of surrogate pairs, so that they are text. */
export async function writeWellFormedCopy(from: string, to: string, signal: AbortSignal): Promise<void> {
  const file = await createTemporary(to);
  try {
    for await (const lines of readRecordLines(from, { signal })) {
      const texts = lines.map((line) => `${line.toString().replace(LONE_SURROGATE, '$1\\ufffd')}\n`);
      await file.appendFile(texts.join(''));
    }
  } finally {
    await file.close();
  }
}
