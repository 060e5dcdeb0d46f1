import { resolve } from 'node:path';
import { findEnclosingRunDirectory } from '../../files/folders.ts';
import { SECRETS } from '../settings/entries/environment.ts';
import { usageError } from '../usage-error.ts';
import { readKeyFile } from './key-file.ts';

const MAX_BYTES = 16 * 1024;

/** The names of variables that hold a secret; those for one host have any ending. */
const SECRET = new RegExp(`^(?:${SECRETS.map((name) => name.replace('<HOST>', '[A-Z0-9_]+')).join('|')})$`);

/**
 * The environment with the secrets that files hold, as Docker and Kubernetes mount them: `NAME_FILE` is the path of the file
 * that holds `NAME`, without the end of its last line. Paths are relative to `cwd`. Failure('usage') names the variable when
 * both are set, and when the file cannot be read, is too large, open to every user, or in a run directory. Never quotes a
 * secret.
 */
export async function readSecretFiles(env: NodeJS.ProcessEnv, cwd: string): Promise<NodeJS.ProcessEnv> {
  const read: NodeJS.ProcessEnv = { ...env };
  for (const [variable, path] of Object.entries(env)) {
    const name = variable.replace(/_FILE$/, '');
    if (name === variable || !SECRET.test(name) || path === undefined || path === '') continue;
    if ((env[name] ?? '') !== '') throw usageError(variable, `${name} is set as well: unset one of them`);
    read[name] = await readSecret(resolve(cwd, path), variable);
    delete read[variable];
  }
  return read;
}

async function readSecret(path: string, place: string): Promise<string> {
  const around = await findEnclosingRunDirectory(path);
  if (around !== null)
    throw usageError(place, `${path} is in the run directory ${around}: keep the secret elsewhere`);
  const text = await readKeyFile(path, { place, maxBytes: MAX_BYTES, secret: true });
  return text.replace(/\r?\n$/, '');
}
