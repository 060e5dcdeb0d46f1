/**
 * Builds the pages of the dashboard into dist/web: index.html, and its assets with names that change with their content.
 * Then what renders reports (report/bundle.mjs). Plain JavaScript, a step of the bootstrap. Takes nothing from the network.
 */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const web = dirname(fileURLToPath(import.meta.url));
const dist = join(dirname(web), 'dist');

/** The first browsers with `light-dark()`, which must stay unchanged: its fallback ignores `data-theme`. */
const BROWSERS = ['chrome123', 'edge123', 'firefox120', 'safari17.5'];

await build({
  root: join(web, 'dashboard'),
  configFile: false,
  envDir: false,
  logLevel: 'warn',
  build: {
    outDir: join(dist, 'web'),
    emptyOutDir: true,
    target: BROWSERS,
    cssTarget: BROWSERS,
    // A Content-Security-Policy without `data:` and without inline scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: 'LICENSES.md' },
  },
});

await import('./report/bundle.mjs');
