import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, test } from 'vitest';
import { parse } from 'yaml';
import { METRICS } from '../../src/metrics/metric-table.ts';
import { temporaryFolder } from '../helpers/cli.ts';
import { debianProgram } from '../helpers/setup/debian-program.ts';

const OPERATIONS = join(import.meta.dirname, '../../docs/operations');
const ALERTS = join(OPERATIONS, 'alerts.yaml');

interface Rule {
  readonly alert: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: { readonly summary: string };
}
const { groups } = parse(readFileSync(ALERTS, 'utf8')) as { groups: readonly { rules: readonly Rule[] }[] };
const RULES = groups.flatMap(({ rules }) => rules);

interface Rehearsal {
  /** The value of each series at each minute. */
  readonly series: Readonly<Record<string, (minute: number) => number | 'stale'>>;
  /** It fires in the minutes from the first one to before the second, and in no other. */
  readonly fires: readonly [from: number, to: number];
  readonly labels?: Readonly<Record<string, string>>;
}

const RUN = { run: 'nightly', instance: 'sink-1:9465' };
const of = (labels: object): string =>
  `{${Object.entries(labels)
    .map(([name, value]) => `${name}="${value}"`)
    .join(',')}}`;
/** A trouble that begins at minute 3 and ends at minute 20. */
const trouble = (minute: number): boolean => minute >= 3 && minute < 20;

const REHEARSALS: Readonly<Record<string, Rehearsal>> = {
  GuardsweepNoSink: {
    series: { guardsweep_runs_held: (minute) => (trouble(minute) ? 'stale' : 0) },
    fires: [8, 20],
  },
  GuardsweepRedisDown: {
    series: { 'guardsweep_redis_up{instance="worker-1:9464"}': (minute) => (trouble(minute) ? 0 : 1) },
    fires: [5, 20],
    labels: { instance: 'worker-1:9464' },
  },
  GuardsweepRunStalled: {
    series: {
      [`guardsweep_backlog_items${of(RUN)}`]: (minute) => (minute < 25 ? 1000 : 0),
      [`guardsweep_commit_age_seconds${of(RUN)}`]: (minute) => minute * 60,
    },
    fires: [16, 25],
    labels: RUN,
  },
  GuardsweepShardStuck: {
    series: {
      [`guardsweep_oldest_shard_age_seconds${of(RUN)}`]: (minute) => (minute < 20 ? 3000 + minute * 60 : 0),
    },
    fires: [11, 20],
    labels: RUN,
  },
  GuardsweepDiskFull: {
    series: { 'guardsweep_runs_disk_full{instance="sink-1:9465"}': (minute) => (trouble(minute) ? 1 : 0) },
    fires: [4, 20],
    labels: { instance: 'sink-1:9465' },
  },
  GuardsweepGuardDown: {
    series: {
      'guardsweep_guard_ready{guard="grpc://gpu-1:8001",instance="worker-1:9464"}': (minute) =>
        trouble(minute) ? 0 : 1,
    },
    fires: [8, 20],
    labels: { guard: 'grpc://gpu-1:8001', instance: 'worker-1:9464' },
  },
  GuardsweepErrors: {
    series: {
      'guardsweep_items_committed_total{lane="text",decision="allow"}': (minute) =>
        minute * 1000 + (minute < 36 ? 0 : 1_000_000),
      // As many errors as verdicts for five minutes, until another run commits a million verdicts.
      'guardsweep_items_committed_total{lane="text",decision="error"}': (minute) =>
        Math.min(Math.max(minute - 20, 0), 5) * 1000,
    },
    fires: [31, 36],
  },
  GuardsweepScheduleFailed: {
    series: { 'guardsweep_schedule_last_status{schedule="nightly"}': (minute) => (trouble(minute) ? 4 : 0) },
    fires: [3, 20],
    labels: { schedule: 'nightly' },
  },
  GuardsweepScheduleLate: {
    series: {
      'guardsweep_schedule_last_success_timestamp_seconds{schedule="nightly"}': (minute) =>
        minute < 1600 ? 0 : 1600 * 60,
    },
    fires: [26 * 60 + 1, 1600],
    labels: { schedule: 'nightly' },
  },
};

function promtool(...args: string[]): { status: number | null; said: string } {
  const program = debianProgram(['promtool'], { versionFlag: '--version', package: 'prometheus' });
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  return { status, said: stdout + stderr };
}

it('Prometheus takes the alerts', () => {
  expect(promtool('check', 'rules', ALERTS)).toMatchObject({ status: 0 });
  expect(RULES.map(({ alert }) => alert)).toEqual(Object.keys(REHEARSALS));
});

test.each(RULES)('$alert fires once, while there is something to do', async (rule) => {
  const { series, fires, labels = {} } = REHEARSALS[rule.alert]!;
  const minutes = Array.from({ length: fires[1] + 10 }, (_, minute) => minute);
  const summary = rule.annotations.summary.replace(
    /\{\{ \$labels\.(\w+) \}\}/g,
    (_, name: string) => labels[name]!,
  );
  const firing = [{ exp_labels: { ...rule.labels, ...labels }, exp_annotations: { summary } }];
  const rehearsal = {
    rule_files: [ALERTS],
    evaluation_interval: '1m',
    tests: [
      {
        interval: '1m',
        input_series: Object.entries(series).map(([name, valueAt]) => ({
          series: name,
          values: minutes.map(valueAt).join(' '),
        })),
        alert_rule_test: minutes.map((minute) => ({
          eval_time: `${minute}m`,
          alertname: rule.alert,
          exp_alerts: minute >= fires[0] && minute < fires[1] ? firing : [],
        })),
      },
    ],
  };
  const file = join(await temporaryFolder(), 'rehearsal.yaml');
  writeFileSync(file, JSON.stringify(rehearsal));
  expect(promtool('test', 'rules', file)).toMatchObject({ status: 0 });
});

test.each(['alerts.yaml', 'dashboard.json', 'kubernetes.yaml'])(
  '%s names metrics of the table only',
  (name) => {
    const known = Object.entries(METRICS).flatMap(([metric, { type }]) =>
      type === 'histogram' ? ['bucket', 'sum', 'count'].map((part) => `${metric}_${part}`) : [metric],
    );
    const text = readFileSync(join(OPERATIONS, name), 'utf8');
    const named = new Set(text.match(/guardsweep_\w+/g));
    expect(named.size).toBeGreaterThan(0);
    expect([...named].filter((metric) => !known.includes(metric))).toEqual([]);
  },
);
