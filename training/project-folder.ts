import { createRequire } from 'node:module';
import { dirname } from 'node:path';

/** The project's root folder, with its package.json. */
export function projectFolder(): string {
  return dirname(createRequire(import.meta.url).resolve('#package.json'));
}
