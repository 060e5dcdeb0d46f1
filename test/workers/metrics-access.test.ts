import { Counter, Registry } from 'prom-client';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { resolveMetricsPlace } from '../../src/cli/flags/server-access.ts';
import type { Flags } from '../../src/config/settings/given.ts';
import { Failure } from '../../src/domain/failure.ts';
import { serveMetrics } from '../../src/http/metrics-server.ts';

const TOKEN = 'a-token-of-prometheus';

const placeOf = (flags: Flags, env: NodeJS.ProcessEnv) => resolveMetricsPlace(flags, { env, cwd: '/' });

async function served(token: string): Promise<string> {
  const registry = new Registry();
  new Counter({ name: 'counted_total', help: 'counted', registers: [registry] }).inc();
  const server = await serveMetrics(registry, { host: '127.0.0.1', port: 0, token });
  onTestFinished(() => server.close());
  return server.url;
}

describe('metrics with a token', () => {
  test.each<Record<string, string>>([
    {},
    { authorization: 'Bearer another' },
    { authorization: `Basic ${TOKEN}` },
    { authorization: `Bearer ${TOKEN}2` },
  ])('are not served to %j', async (headers) => {
    expect((await fetch(await served(TOKEN), { headers })).status).toBe(401);
  });

  it('are served to who has it', async () => {
    const response = await fetch(await served(TOKEN), { headers: { authorization: `bearer ${TOKEN}` } });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('counted_total 1');
  });
});

describe('an address that other machines can reach', () => {
  const port = { metricsPort: '9464' };

  test.each(['0.0.0.0', '::', 'worker-1', '127.999.0.1'])(
    '%s needs a token or --metrics-open',
    async (metricsHost) => {
      const flags = { ...port, metricsHost };
      await expect(placeOf(flags, {})).rejects.toThrow(Failure);
      await expect(placeOf(flags, { GUARDSWEEP_METRICS_TOKEN: '' })).rejects.toThrow(
        /GUARDSWEEP_METRICS_TOKEN.*--metrics-open/,
      );
      expect(await placeOf(flags, { GUARDSWEEP_METRICS_TOKEN: TOKEN })).toMatchObject({ token: TOKEN });
      expect(await placeOf({ ...flags, metricsOpen: true }, {})).toMatchObject({ token: null });
    },
  );

  test.each([undefined, 'localhost', '::1', '127.8.9.1'])('%s is none', async (metricsHost) => {
    const flags = { ...port, metricsHost };
    expect(await placeOf(flags, {})).toMatchObject({ token: null });
    expect(await placeOf(flags, { GUARDSWEEP_METRICS_TOKEN: TOKEN })).toMatchObject({ token: TOKEN });
  });
});
