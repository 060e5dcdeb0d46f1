/**
 * Bundles the report renderer into dist/report-runtime. A production install then needs no Preact:
 *
 *   report.js  exports renderReport; the page's script and styles are inside, as text
 *   LICENSES   of the packages
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const report = dirname(fileURLToPath(import.meta.url));
const root = dirname(dirname(report));
const packages = join(root, 'node_modules');
const target = join(root, 'dist', 'report-runtime');

/** The inlined script of the page, which must not contain its end tag. */
async function pageScript() {
  const bundle = await rolldown({ input: join(report, 'client', 'script.ts'), logLevel: 'warn' });
  const { output } = await bundle.generate({ format: 'iife', minify: true });
  await bundle.close();
  const { code } = output[0];
  if (/<\/script|<!--/i.test(code)) throw new Error('the script of the report would end its element');
  return code.trim();
}

/** The colours shared with the dashboard, and the report's own styles. */
function pageStyles() {
  return [join(root, 'web', 'ui', 'tokens.css'), join(report, 'report.css')]
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n')
    .replaceAll(/\/\*[^]*?\*\//g, '')
    .replaceAll(/\s*\n\s*/g, '\n')
    .trim();
}

const texts = new Map([
  ['report:script', await pageScript()],
  ['report:styles', pageStyles()],
]);

mkdirSync(target, { recursive: true });
const bundle = await rolldown({
  input: join(report, 'report.tsx'),
  platform: 'node',
  tsconfig: join(root, 'web', 'tsconfig.json'),
  transform: { define: { 'process.env.NODE_ENV': '"production"' } },
  plugins: [
    {
      name: 'texts',
      resolveId: (id) => (texts.has(id) ? `\0${id}` : null),
      load: (id) => {
        const text = texts.get(id.slice(1));
        return text === undefined ? null : `export default ${JSON.stringify(text)};`;
      },
    },
  ],
  logLevel: 'warn',
});
await bundle.write({
  file: join(target, 'report.js'),
  format: 'esm',
  minify: true,
  comments: { legal: true, annotation: false, jsdoc: false },
});
await bundle.close();

const PARTS = ['preact', 'preact-render-to-string'];
const licences = PARTS.map((name) => {
  const { version, license } = JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8'));
  return `${name} ${version}: ${license}\n\n${readFileSync(join(packages, name, 'LICENSE'), 'utf8')}\n`;
});
writeFileSync(join(target, 'LICENSES'), licences.join('\n----\n\n'));
