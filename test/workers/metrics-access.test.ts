import { get } from 'node:http';
import { Counter, Registry } from 'prom-client';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { metricsOf } from '../../src/cli/flags/service-flags.ts';
import { Failure } from '../../src/domain/failure.ts';
import { serveMetrics } from '../../workers/metrics-server.ts';

const TOKEN = 'a-token-of-prometheus';

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
  test.each([undefined, '', 'Bearer', 'Bearer another', `Basic ${TOKEN}`, `Bearer ${TOKEN}2`])(
    'are not served to %s',
    async (authorization) => {
      const url = await served(TOKEN);
      expect(await fetched(url, authorization)).toEqual({ status: 401, body: '' });
    },
  );

  it('are served to who has it', async () => {
    const url = await served(TOKEN);
    expect(await fetched(url, `bearer ${TOKEN}`)).toMatchObject({
      status: 200,
      body: expect.stringContaining('counted_total 1') as string,
    });
  });

  it('do not tell which paths there are', async () => {
    const url = await served(TOKEN);
    expect((await fetched(url.replace('/metrics', '/other'))).status).toBe(401);
    expect((await fetched(url.replace('/metrics', '/other'), `Bearer ${TOKEN}`)).status).toBe(404);
  });
});

describe('an address that other machines can reach', () => {
  const port = { metricsPort: '9464' };

  test.each(['0.0.0.0', '::', '10.0.0.7', 'worker-1', '127.999.0.1'])(
    '%s needs a token or --metrics-open',
    (metricsHost) => {
      const flags = { ...port, metricsHost };
      expect(() => metricsOf(flags, {})).toThrow(Failure);
      expect(() => metricsOf(flags, { GUARDSWEEP_METRICS_TOKEN: '' })).toThrow(
        /GUARDSWEEP_METRICS_TOKEN.*--metrics-open/,
      );
      expect(metricsOf(flags, { GUARDSWEEP_METRICS_TOKEN: TOKEN })).toMatchObject({ token: TOKEN });
      expect(metricsOf({ ...flags, metricsOpen: true }, {})).toMatchObject({ token: null });
    },
  );

  test.each([undefined, 'localhost', '::1', '127.8.9.1'])('%s is none', (metricsHost) => {
    const flags = metricsHost === undefined ? port : { ...port, metricsHost };
    expect(metricsOf(flags, {})).toMatchObject({ token: null });
    expect(metricsOf(flags, { GUARDSWEEP_METRICS_TOKEN: TOKEN })).toMatchObject({ token: TOKEN });
  });
});

it('a token that no header can carry, or beside --metrics-open, is wrong usage', () => {
  expect(() => metricsOf({ metricsPort: '0' }, { GUARDSWEEP_METRICS_TOKEN: 'two words' })).toThrow(Failure);
  const open = { metricsPort: '0', metricsOpen: true };
  expect(() => metricsOf(open, { GUARDSWEEP_METRICS_TOKEN: TOKEN })).toThrow(Failure);
});
