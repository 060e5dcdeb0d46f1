import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, test } from 'vitest';
import { METRICS } from '../../src/metrics/metric-table.ts';
import { debianProgram } from '../helpers/setup/debian-program.ts';

const OPERATIONS = join(import.meta.dirname, '../../docs/operations');
const ALERTS = join(OPERATIONS, 'alerts.yaml');

function promtool(...args: string[]): { status: number | null; said: string } {
  const program = debianProgram(['promtool'], { versionFlag: '--version', package: 'prometheus' });
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  return { status, said: stdout + stderr };
}

it('Prometheus takes the alerts', () => {
  expect(promtool('check', 'rules', ALERTS)).toMatchObject({ status: 0 });
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
