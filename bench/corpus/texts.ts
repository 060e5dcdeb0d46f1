import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import { Failure } from '../../src/domain/failure.ts';
import { projectFolder } from '../../training/project-folder.ts';

const FILES = ['train.jsonl.gz', 'dev.jsonl.gz', 'unsafe_unspecified.jsonl.gz'];

const ROW = z.object({ text: z.string().min(1) });

/**
 * Real texts of mixed lengths and languages, in file order, from the folder BENCH_CORPORA (relative to the user's
 * folder), by default shared/corpora next to the project. Failure('usage') when they are missing.
 */
export async function readTexts(env: NodeJS.ProcessEnv = process.env): Promise<readonly string[]> {
  const named = env['BENCH_CORPORA'];
  const folder =
    named === undefined
      ? resolve(projectFolder(), '../shared/corpora')
      : resolve(env['INIT_CWD'] ?? '.', named);
  const texts: string[] = [];
  for (const file of FILES) texts.push(...(await readFileTexts(join(folder, file))));
  return texts;
}

async function readFileTexts(path: string): Promise<string[]> {
  try {
    const lines = gunzipSync(await readFile(path))
      .toString('utf8')
      .split('\n');
    return lines.filter((line) => line !== '').map((line) => ROW.parse(JSON.parse(line)).text);
  } catch (cause) {
    const message =
      `cannot read ${path}: this bench draws its rows from the corpora ${FILES.join(', ')} ` +
      '(lines of JSON with a text), which are not part of the repository; name their folder in BENCH_CORPORA';
    throw new Failure('usage', message, { cause });
  }
}
