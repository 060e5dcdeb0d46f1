import { chmodSync } from 'node:fs';

const NOBODY = 65_534;

/** Runs something to which permissions apply. They do not apply to root, who for so long is nobody in particular. */
export async function asOrdinaryUser<T>(folder: string, action: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return action();
  chmodSync(folder, 0o755);
  process.seteuid!(NOBODY);
  try {
    return await action();
  } finally {
    process.seteuid!(0);
  }
}
