import { createRequire } from 'node:module';

/** Version of this package. */
export function toolVersion(): string {
  const { version } = createRequire(import.meta.url)('#package.json') as { version: string };
  return version;
}
