import { get } from 'node:http';
import { Counter, Registry } from 'prom-client';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { resolveMetricsPlace } from '../../src/cli/flags/server-access.ts';
import type { Flags } from '../../src/config/settings/given.ts';
import { Failure } from '../../src/domain/failure.ts';
import { serveMetrics } from '../../src/http/metrics-server.ts';

const TOKEN = 'a-token-of-prometheus';

const placeOf = (flags: Flags, env: NodeJS.ProcessEnv) => resolveMetricsPlace(flags, { env, cwd: '/' });

function fetched(url: string, authorization?: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    get(url, { headers: authorization === undefined ? {} : { authorization } }, (response) => {
      let body = '';
      response
        .setEncoding('utf8')
        .on('data', (chunk: string) => (body += chunk))
        .on('end', () => resolve({ status: response.statusCode!, body }));
    }).on('error', reject);
  });
}

async function served(token: string | null): Promise<string> {
  const registry = new Registry();
  new Counter({ name: 'counted_total', help: 'counted', registers: [registry] }).inc();
  const server = await serveMetrics(registry, { host: '127.0.0.1', port: 0, token });
  onTestFinished(() => server.close());
  return server.url;
}

describe('metrics with a token', () => {
  test.each([undefined, 'Bearer another', `Basic ${TOKEN}`, `Bearer ${TOKEN}2`])(
    'are not served to %s',
    async (authorization) => {
      const url = await served(TOKEN);
      expect(await fetched(url, authorization)).toMatchObject({ status: 401 });
    },
  );

  it('are served to who has it', async () => {
    const url = await served(TOKEN);
    expect(await fetched(url, `bearer ${TOKEN}`)).toMatchObject({
      status: 200,
      body: expect.stringContaining('counted_total 1') as string,
    });
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
