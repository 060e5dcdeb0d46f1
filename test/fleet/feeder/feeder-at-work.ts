import { setMaxListeners } from 'node:events';
import { onTestFinished } from 'vitest';
import type { RunRecord } from '../../../src/config/run-config.ts';
import { FleetFeeder } from '../../../src/fleet/feeder/fleet-feeder.ts';
import type { RedisLink } from '../../../src/queue/redis/link.ts';
import { ChainTail } from '../../../src/record/log/chain-tail.ts';
import { FeedClaim } from '../../../src/runs/control/feed-claim.ts';
import { RunReuse } from '../../../src/runs/reuse/run-reuse.ts';
import type { VerdictStore } from '../../../src/store/verdict-store.ts';

/** A feeder at work on a run for the rest of the test; `watching` is how that ended. */
export async function feederAtWork(
  link: RedisLink,
  { dir, record }: { readonly dir: string; readonly record: RunRecord },
  store: VerdictStore | null = null,
) {
  const run = { dir, record, sources: [] };
  const claim = await FeedClaim.take(dir, { fleet: true });
  const end = new AbortController();
  setMaxListeners(0, end.signal);
  const tail = await ChainTail.open(dir, end.signal);
  const feeder = new FleetFeeder({ run, reuse: new RunReuse(record, store), link, claim, tail });
  const watching = feeder.supervise(end.signal);
  watching.catch(() => {});
  onTestFinished(async () => {
    end.abort(new Error('the test is over'));
    await watching.catch(() => {});
    await feeder.close();
    await claim.release();
  });
  return { run, feeder, watching, end: end.signal };
}
