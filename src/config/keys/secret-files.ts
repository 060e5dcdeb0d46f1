import { resolve } from 'node:path';
import { findEnclosingRunDirectory } from '../../files/folders.ts';
import { SECRETS } from '../settings/entries/environment.ts';
import { usageError } from '../usage-error.ts';
import { readKeyFile } from './key-file.ts';

const MAX_BYTES = 16 * 1024;

/** Names of variables that hold a secret; those for one host may have any ending. */
const SECRET = new RegExp(`^(?:${SECRETS.map((name) => name.replace('<HOST>', '[A-Z0-9_]+')).join('|')})$`);

/**
 * Returns the environment with the secrets that Docker and Kubernetes mount as files: `NAME_FILE` is the path of the
 * file with the value of `NAME`, without its last line break. Paths are relative to `cwd`. Failure('usage') names the
 * variable if both are set, or if the file cannot be read, is too large, open to every user, or in a run directory.
 * Never quotes a secret.
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
