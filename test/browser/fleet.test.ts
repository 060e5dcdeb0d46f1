import { join } from 'node:path';
import { it, onTestFinished } from 'vitest';
import { Presence } from '../../src/fleet/redis/presence.ts';
import { useBrowser } from '../helpers/browser/browser.ts';
import { checkPage } from '../helpers/browser/check-page.ts';
import { openDashboard } from '../helpers/browser/open-dashboard.ts';
import { temporaryFolder } from '../helpers/cli.ts';
import { serveDashboard } from '../helpers/dashboard.ts';
import { linkForTest, redisForTest } from '../helpers/redis/redis.ts';

const browser = useBrowser();

it('the fleet is shown with its workers, sinks and queues, and whether its Redis can be reached', async () => {
  const redis = await redisForTest();
  const link = await linkForTest(redis);
  const folder = await temporaryFolder();
  const served = await serveDashboard({
    out: join(folder, 'runs'),
    roots: [folder],
    redis: redis.address,
  });
  const page = await browser.newPage({ size: 'phone' });
  const says = (words: string | RegExp): Promise<void> =>
    page.getByRole('region', { name: 'Health' }).getByRole('listitem').filter({ hasText: words }).waitFor();
  await openDashboard(page, served);
  await says(/Fleet over .* 0 workers, 0 sinks/);
  for (const role of ['worker', 'sink'] as const) {
    const process = new Presence(link, role, role, { describe: () => ({}), expiryMs: 60_000 });
    await process.start();
    onTestFinished(() => process.stop());
  }
  await link.redis.lpush(link.key('shards-text', 'wait'), '1', '2');
  await says(/Fleet over .* 1 worker, 1 sink/);
  await says(/Queue text 2 waiting, 0 being done/);
  await checkPage(page);
  await redis.kill();
  await says(/Fleet over .* Redis cannot be reached/);
  await checkPage(page);
  // Without its data, but for what processes announce again.
  await redis.boot();
  await says(/Fleet over .* 1 worker, 1 sink/);
});
