import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawnSync } from 'node:child_process';
import ts from 'typescript';
import { expect, it, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { METRICS } from '../../src/metrics/metric-table.ts';
import { debianProgram } from '../helpers/setup/debian-program.ts';
import { temporaryFolder } from '../helpers/cli.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MANIFESTS = 'docs/operations/kubernetes.yaml';
/** Modules of `kubernetes-types` by API version. */
const MODULES: Readonly<Record<string, string>> = {
  'apps/v1': 'apps/v1',
  'autoscaling/v2': 'autoscaling/v2',
  'networking.k8s.io/v1': 'networking/v1',
  v1: 'core/v1',
};

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: { readonly template?: { readonly spec: Pod } };
}

/** A pod as far as tests look at it. */
interface Pod {
  readonly securityContext: { readonly runAsUser: number; readonly fsGroup: number };
  readonly containers: readonly {
    readonly image: string;
    readonly env?: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[];
    readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  }[];
  readonly volumes: readonly {
    readonly name: string;
    readonly secret?: { readonly defaultMode: number; readonly items: readonly { readonly path: string }[] };
  }[];
}

function manifestsIn(yaml: string): Manifest[] {
  // As kubectl reads it, where 0400 is octal.
  return parseAllDocuments(yaml, { version: '1.1' }).map((document) => document.toJS() as Manifest);
}

/** What the schema of Kubernetes, as TypeScript's types have it, does not allow in the manifests: unknown keys, wrong values. */
function problemsOf(manifests: readonly Manifest[]): string[] {
  const file = join(ROOT, 'test/docs/manifests.virtual.ts');
  const source = manifests
    .map((manifest, index) => {
      const from = MODULES[manifest.apiVersion] ?? `unknown version ${manifest.apiVersion}`;
      const type = `import('kubernetes-types/${from}').${manifest.kind}`;
      return `export const _${index}: ${type} = ${JSON.stringify(manifest, null, 1)};`;
    })
    .join('\n');
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    types: [],
    lib: ['lib.es5.d.ts'],
    skipLibCheck: true,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  };
  const host = ts.createCompilerHost(options);
  const getSourceFile = host.getSourceFile.bind(host);
  host.getSourceFile = (name, language, ...rest) =>
    name === file ? ts.createSourceFile(name, source, language) : getSourceFile(name, language, ...rest);
  const program = ts.createProgram([file], options, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

const TEXT = readFileSync(join(ROOT, MANIFESTS), 'utf8');

it('the manifests are what the schema of Kubernetes allows', () => {
  const manifests = manifestsIn(TEXT);
  expect(manifests.map(({ kind }) => kind)).toContain('HorizontalPodAutoscaler');
  expect(problemsOf(manifests)).toEqual([]);
});

it('secrets reach our processes as files, which are not for every user', () => {
  const pods = manifestsIn(TEXT).flatMap(({ spec }) => spec?.template?.spec ?? []);
  let ours = 0;
  for (const { containers, volumes, securityContext } of pods) {
    for (const { image, env = [], volumeMounts } of containers) {
      if (!image.startsWith('guardsweep:')) continue;
      ours++;
      const { secret } = volumes.find(({ name }) => name === 'secrets')!;
      expect([secret!.defaultMode, securityContext.fsGroup]).toEqual([0o400, securityContext.runAsUser]);
      const { mountPath } = volumeMounts.find(({ name }) => name === 'secrets')!;
      const files = env.filter(({ name }) => name.endsWith('_FILE')).map(({ value }) => value);
      expect(files).toEqual(secret!.items.map(({ path }) => `${mountPath}/${path}`));
      expect(env.filter(({ valueFrom }) => valueFrom !== undefined)).toEqual([]);
    }
  }
  expect(ours).toBe(3);
});

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

const UNITS = fileURLToPath(new URL('../../docs/operations/systemd/', import.meta.url));

it.each(readdirSync(UNITS))('systemd finds nothing wrong with %s', async (name) => {
  const analyze = debianProgram(['systemd-analyze'], { versionFlag: '--version', package: 'systemd' });
  // The program of a unit has to exist, and a timer needs its service.
  const folder = await temporaryFolder();
  for (const other of readdirSync(UNITS)) {
    const text = readFileSync(join(UNITS, other), 'utf8');
    writeFileSync(join(folder, other), text.replace('/usr/bin/node', process.execPath));
  }
  const { status, stdout, stderr } = spawnSync(analyze, ['verify', join(folder, name)], { encoding: 'utf8' });
  expect({ status, said: stdout + stderr }).toEqual({ status: 0, said: '' });
});
