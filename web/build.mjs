/**
 * Builds the dashboard pages into dist/web: index.html, and its assets with content-hashed names. Then builds the
 * report renderer (report/bundle.mjs). Plain JavaScript, a step of the bootstrap. Does not use the network.
 */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const web = dirname(fileURLToPath(import.meta.url));
const dist = join(dirname(web), 'dist');

/** The first browsers with `light-dark()`, which must not be transpiled: its fallback ignores `data-theme`. */
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
    // The Content-Security-Policy allows no `data:` and no inline scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: 'LICENSES.md' },
  },
});

await import('./report/bundle.mjs');
