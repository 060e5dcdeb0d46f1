import { readFile, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What a crash, a bad disk or a careless hand did to one file. */
export interface Damage {
  readonly kind: 'cut' | 'flip' | 'zeros' | 'garbage' | 'gone';
  readonly file: string;
  readonly bytes: number;
  /** Offset from which on the file is not as it was. */
  readonly at: number;
  /** Offset from which on it is as it was again; its end when nothing is. */
  readonly to: number;
}

const KINDS = ['cut', 'flip', 'zeros', 'garbage', 'gone'] as const;
const MAX_DAMAGE = 512;

/** Damages one file of the verdict log or the plan, chosen by `next`. */
export async function damageOne(runDir: string, next: () => number): Promise<Damage> {
  const log = (await readdir(join(runDir, 'log'))).sort().map((name) => `log/${name}`);
  const files: string[] = [];
  for (const name of [...log, 'plan.jsonl']) {
    if ((await stat(join(runDir, name))).size > 0) files.push(name);
  }
  const file = files[Math.floor(next() * files.length)]!;
  const path = join(runDir, file);
  const bytes = await readFile(path);
  const kind = KINDS[Math.floor(next() * KINDS.length)]!;
  const at = kind === 'garbage' ? bytes.length : Math.floor(next() * bytes.length);
  const length = 1 + Math.floor(next() * MAX_DAMAGE);
  if (kind === 'gone') await rm(path);
  else if (kind === 'cut') await truncate(path, at);
  else if (kind === 'garbage') {
    const garbage = Buffer.from(Array.from({ length }, () => Math.floor(next() * 256)));
    await writeFile(path, Buffer.concat([bytes, garbage]));
  } else {
    if (kind === 'flip') bytes[at]! ^= 1 << Math.floor(next() * 8);
    else bytes.subarray(at, at + length).fill(0);
    await writeFile(path, bytes);
  }
  const to = kind === 'flip' ? at + 1 : kind === 'zeros' ? Math.min(at + length, bytes.length) : bytes.length;
  return { kind, file, bytes: bytes.length, at, to };
}
