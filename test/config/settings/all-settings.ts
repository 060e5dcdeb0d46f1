import { readdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Setting } from '../../../src/config/settings/setting.ts';

const ENTRIES = resolve(import.meta.dirname, '../../../src/config/settings/entries');

/** Every setting that an entry defines, by the name of its constant. */
export async function allSettings(): Promise<ReadonlyMap<string, Setting>> {
  const settings = new Map<string, Setting>();
  for (const file of await readdir(ENTRIES)) {
    const exported = (await import(resolve(ENTRIES, file))) as Record<string, unknown>;
    for (const [name, value] of Object.entries(exported)) {
      if (typeof value === 'object' && value !== null && 'kind' in value)
        settings.set(name, value as Setting);
    }
  }
  return settings;
}
