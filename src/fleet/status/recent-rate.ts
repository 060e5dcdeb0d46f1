import { parseChainLine } from '../../record/log/chain-line.ts';
import { listEpochs } from '../../record/log/epochs.ts';
import { lastLines } from '../../record/log/last-lines.ts';

const WINDOW_MS = 60_000;

/** Items committed per second over the last minute; null when there were none. */
export async function recentRate(runDir: string, now: Date): Promise<number | null> {
  const epoch = (await listEpochs(runDir)).at(-1);
  if (epoch === undefined) return null;
  let items = 0;
  let from = now.getTime();
  for (const line of await lastLines(runDir, epoch)) {
    const commit = parseChainLine(line);
    if (commit === null || !('shard' in commit)) continue;
    const at = Date.parse(commit.at);
    if (now.getTime() - at > WINDOW_MS) continue;
    items += commit.tally.items;
    from = Math.min(from, at);
  }
  const seconds = (now.getTime() - from) / 1000;
  return items === 0 || seconds <= 0 ? null : items / seconds;
}
