import { expect, it, onTestFinished, test } from 'vitest';
import type { GuardPool } from '../../src/guard/pool/pool.ts';
import { gatewayMetrics } from '../../src/gateway/metrics.ts';
import { METRICS } from '../../src/metrics/metric-table.ts';
import { Metrics } from '../../src/metrics/metrics.ts';
import type { RedisLink } from '../../src/queue/redis/link.ts';
import { expectFile, projectFile } from '../config/settings/markdown-list.ts';
import { Opened } from '../../workers/opened.ts';
import { addQueueMetrics } from '../../workers/queue-metrics.ts';
import { schedulerMetrics } from '../../workers/scheduler-metrics.ts';
import { serveObserved } from '../../workers/service.ts';
import { sinkMetrics } from '../../workers/sink-metrics.ts';
import { workerMetrics } from '../../workers/worker-metrics.ts';

const ROWS = Object.entries(METRICS).map(([name, row]) => ({ name, ...row }));

const link = { away: true, answers: async () => false } as unknown as RedisLink;
const pool = { status: () => [], waiting: 0 } as unknown as GuardPool;

const PROCESSES: Readonly<Record<string, () => Pick<Metrics, 'registry'>>> = {
  worker: () => workerMetrics(pool).metrics,
  sink: () => {
    const { metrics } = sinkMetrics();
    addQueueMetrics(metrics, link);
    return metrics;
  },
  scheduler: () => schedulerMetrics(async () => []).metrics,
  serve: () =>
    gatewayMetrics({
      pool,
      streams: { open: 0, verdicts: 0, unjudgedText: 0 },
      open: () => 0,
      waiting: () => 0,
    }),
};

/** What a process serves under /metrics. */
async function served(metrics: Pick<Metrics, 'registry'>): Promise<string> {
  if (!(metrics instanceof Metrics)) return metrics.registry.metrics();
  const opened = new Opened();
  onTestFinished(() => opened.close());
  const said: string[] = [];
  const address = { host: '127.0.0.1', port: 0, token: null };
  await serveObserved({ opened, metrics, link, address, needs: {}, say: (line) => said.push(line) });
  return (await fetch(/http:\S+/.exec(said[0]!)![0])).text();
}

const byName = (one: { name: string | undefined }, other: { name: string | undefined }): number =>
  one.name!.localeCompare(other.name!);

test.each(Object.entries(PROCESSES))(
  'a process serves the metrics of its rows in the table, and no others of its own: %s',
  async (process, metricsOf) => {
    const metrics = metricsOf();
    const text = await served(metrics);
    const heads = [...text.matchAll(/^# HELP (guardsweep_\w+) (.+)\n# TYPE \1 (\w+)$/gm)];
    const expected = ROWS.filter(({ of }) => (of as readonly string[]).includes(process));
    expect(heads.map(([, name, help, type]) => ({ name, help, type })).sort(byName)).toEqual(
      expected.map(({ name, help, type }) => ({ name, help, type })).sort(byName),
    );
    expect(text).toMatch(/^guardsweep_build_info\{version="\d+\.\d+\.\d+"\} 1$/m);
    expect(text).toMatch(/^process_resident_memory_bytes \d+$/m);
  },
);

// `npx vitest run test/workers/metric-table.test.ts -u` writes the rows again.
it('the documentation has the table', async () => {
  const page = 'docs/operations.md';
  const rows = ROWS.map(
    ({ name, of, type, labels, help }) =>
      `| \`${name}\` | ${of.join(', ')} | ${type} | ${labels.join(', ')} | ${help} |\n`,
  );
  const table = /(\n\| metric .*\n\| -.*\n)(?:\|.*\n)*/;
  const filled = (await projectFile(page)).replace(table, (_, head: string) => head + rows.join(''));
  await expectFile(page, filled);
});
