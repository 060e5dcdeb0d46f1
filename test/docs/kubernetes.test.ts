import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';

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
}

function manifestsIn(yaml: string): Manifest[] {
  return parseAllDocuments(yaml).map((document) => document.toJS() as Manifest);
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

it('mistakes in them are found', () => {
  const mistakes = [
    ['strategy: {', 'strategies: {'],
    ['scaleTargetRef', 'targetRef'],
    ['containerPort: 9465', 'containerPort: "9465"'],
  ] as const;
  const wrong = mistakes.reduce((text, [right, mistake]) => text.replace(right, mistake), TEXT);
  const problems = problemsOf(manifestsIn(wrong)).join('\n');
  for (const said of [/strategies/, /targetRef/, /'string' is not assignable to type 'number'/]) {
    expect(problems).toMatch(said);
  }
});
