import { join } from 'node:path';
import type { RunConfig } from '../config/run-config.ts';
import type { JudgedItem } from '../domain/item.ts';
import { isThere } from '../files/is-there.ts';
import { STORE_FILES } from '../files/store-files.ts';
import { judgingText } from '../runs/reuse/judging-text.ts';
import { openStoreFor, type OpenStoreOptions } from '../runs/reuse/open-store.ts';

/**
 * How many items of a sample have a stored verdict of these models; null when the run would reuse none, or there is no
 * store yet: none is made.
 */
export async function countReusable(
  items: readonly JudgedItem[],
  config: RunConfig,
  { fingerprints, ...options }: OpenStoreOptions & { readonly fingerprints: readonly string[] },
): Promise<number | null> {
  const { reuse, store: folder } = config;
  if (reuse !== true || folder === undefined || !(await isThere(join(folder, STORE_FILES.marker))))
    return null;
  const store = await openStoreFor(config, options);
  if (store === null) return null;
  try {
    const judging = judgingText(config.judging);
    const by = fingerprints.map((fingerprint) => ({ fingerprint, judging }));
    const isReused = ({ request, contentSha256 }: JudgedItem): boolean =>
      request.requestType !== 'generation' && store.find(contentSha256, by) !== null;
    return items.filter(isReused).length;
  } finally {
    await store.close();
  }
}
