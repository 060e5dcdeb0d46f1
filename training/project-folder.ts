import { createRequire } from 'node:module';
import { dirname } from 'node:path';

/** The folder of this project, where its package.json is. */
export function projectFolder(): string {
  return dirname(createRequire(import.meta.url).resolve('#package.json'));
}
