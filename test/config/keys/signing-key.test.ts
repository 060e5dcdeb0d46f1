import { generateKeyPairSync } from 'node:crypto';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readSigningKey } from '../../../src/config/keys/signing-key.ts';
import { temporaryFolder } from '../../helpers/cli.ts';

test('a signing key that every user can read is refused, one for a group is not', async () => {
  const path = join(await temporaryFolder(), 'key.pem');
  const { privateKey } = generateKeyPairSync('ed25519');
  await writeFile(path, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const env = { GUARDSWEEP_SIGNING_KEY_FILE: path };
  await chmod(path, 0o644);
  await expect(readSigningKey(env)).rejects.toThrow(/every user/);
  await chmod(path, 0o440);
  expect((await readSigningKey(env))?.asymmetricKeyType).toBe('ed25519');
});
