import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

/** A service as far as tests look at it. */
export interface Service {
  readonly image: string;
  readonly build?: string;
  readonly user?: string;
  readonly profiles?: readonly string[];
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly deploy?: { resources: { reservations: { devices: readonly object[] } } };
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
}

export const projectFile = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** What Compose makes of `${NAME:-default}`, `${NAME:?message}` and `$$`. Throws for a variable that is needed. */
function interpolated(text: string, env: Readonly<Record<string, string>>): string {
  return text.replaceAll(
    /\$\$|\$\{(\w+)(?::([-?])([^}]*))?\}/g,
    (all, name: string | undefined, kind: string | undefined, rest: string) => {
      if (name === undefined) return all === '$$' ? '$' : all;
      const value = env[name] ?? '';
      if (value !== '') return value;
      if (kind === '?') throw new Error(`${name}: ${rest}`);
      return kind === '-' ? rest : '';
    },
  );
}

function each(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((entry) => each(entry, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, each(entry, change)]));
}

/** The services of docker-compose.yml, with the variables that Compose would find. */
export function composeServices(env: Readonly<Record<string, string>>): Readonly<Record<string, Service>> {
  const file = parse(readFileSync(projectFile('docker-compose.yml'), 'utf8'), { merge: true }) as {
    services: unknown;
  };
  return each(file.services, (text) => interpolated(text, env)) as Record<string, Service>;
}
