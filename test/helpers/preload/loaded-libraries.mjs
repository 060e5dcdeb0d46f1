import { appendFileSync, readFileSync } from 'node:fs';

/** Preloaded: when a thread or the process ends by itself, it says in a file whether libvips is loaded (Linux). */
process.on('exit', () => {
  const isLoaded = readFileSync('/proc/self/maps', 'utf8').includes('libvips');
  appendFileSync(process.env.LIBRARIES_FILE, isLoaded ? 'libvips\n' : 'none\n');
});
