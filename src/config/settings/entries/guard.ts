import { resolve } from 'node:path';
import type { GuardPolicy } from '../../../domain/guard/guard-family.ts';
import { canaryChoice } from '../../job-file/canary-file.ts';
import { parseFingerprintId } from '../../values/hashes.ts';
import { EMBEDDED_GUARD, parseGuardUrls } from '../../values/guard-url.ts';
import { FILE, list, single } from '../kinds.ts';
import { setting } from '../setting.ts';
import { type WithOrigin, usageError } from '../../usage-error.ts';
import { readTextFile } from '../../yaml-file.ts';
import { GUARD_URL } from './environment.ts';

/** Maximum characters of a policy: about 16,000 tokens, which every request carries. */
const MAX_POLICY_CHARS = 64 * 1024;

/**
 * Reads a written policy. Failure('usage') if it cannot be read, is blank or too long. `named` as in `readTextFile`.
 */
async function readGuardPolicy(absolute: string, named: WithOrigin<string>): Promise<GuardPolicy> {
  const { text, sha256 } = await readTextFile(absolute, named);
  if (text.trim() === '') throw usageError(named.value, 'is blank, so there is nothing to judge by');
  if (text.length > MAX_POLICY_CHARS)
    throw usageError(
      named.value,
      `has more than ${MAX_POLICY_CHARS} characters, which every request would carry`,
    );
  return { sha256, text };
}

const guard = {
  flag: '--guard',
  variable: GUARD_URL,
  help: 'guard endpoint: `grpc[s]://host:8001`, `https://host`, `http://host:9000` (REST), `kserve+http[s]://host:8000`, `openai+http[s]://host:8000?model=…` (OpenAI-compatible), `ws[s]://host:8000` (streams only), `embedded:` or `embedded:all-scores`',
  kind: list<readonly string[]>(
    'url',
    'a guard URL such as grpc://gpu-1:8001 or "embedded:" (in quotes)',
    parseGuardUrls,
  ),
} as const;

export const GUARD = setting({
  ...guard,
  key: 'guard',
  keyNote: 'the port may be left out; `"embedded:"` needs the quotes in YAML',
  default: EMBEDDED_GUARD,
  example: 'grpc://gpu-1:8001',
});

/** The guard of a worker, which uses the demonstration guard only if told to. */
export const WORKER_GUARD = setting({
  ...guard,
  required: 'a worker needs a guard: name it with --guard or GUARD_URL (embedded: is one)',
  example: 'grpc://127.0.0.1:8001',
});

/** The guard of the gateway, with the same rules. The dashboard works without one. */
export const GATEWAY_GUARD = setting({
  ...guard,
  unset: 'none: the API answers 503',
  example: 'grpc://127.0.0.1:8001',
});

export const EXPECT_FINGERPRINT = setting({
  flag: '--expect-fingerprint',
  key: 'expectFingerprint',
  help: 'stop with status 4 unless every guard has this fingerprint id',
  kind: single('id', parseFingerprintId),
  unset: 'any',
  example: 'sha256:9f86d0… (64 digits)',
});

export const GUARD_POLICY = setting({
  flag: '--guard-policy',
  key: 'guardPolicy',
  help: 'your written policy, which models of the family `policy` follow',
  keyNote: 'a text file, relative to the job file',
  kind: single('file', ({ value, place }, { folder }) =>
    readGuardPolicy(resolve(folder, value), { value, place }),
  ),
  unset: 'none',
  example: 'policy.md',
});

export const CANARIES = setting({
  flag: '--canaries',
  key: 'canaries',
  help: 'items with known verdicts that every guard must get right before it is used: your own file, or `off`',
  keyNote: 'a file, relative to the job file',
  kind: single('file|off', ({ value, place }, { folder }) =>
    canaryChoice({ value, place }, resolve(folder, value)),
  ),
  unset: 'a small built-in set',
  example: 'canaries.yaml',
});

const KEY_NOTE = 'relative to the job file';

export const GUARD_CA = setting({
  flag: '--guard-ca',
  key: 'guardCa',
  help: 'trust only guards whose certificate is signed by an authority in this PEM file',
  keyNote: KEY_NOTE,
  kind: FILE,
  unset: 'the authorities that Node trusts',
  example: '/etc/guardsweep/ca.pem',
});

export const GUARD_CERT = setting({
  flag: '--guard-cert',
  key: 'guardCert',
  help: 'client certificate (PEM) for guards that require one (mTLS)',
  keyNote: KEY_NOTE,
  kind: FILE,
  unset: 'none',
  example: '/etc/guardsweep/client.pem',
});

export const GUARD_KEY = setting({
  flag: '--guard-key',
  key: 'guardKey',
  help: 'private key of --guard-cert: a PEM file that is not world-readable',
  keyNote: KEY_NOTE,
  kind: FILE,
  unset: 'none',
  example: '/etc/guardsweep/client.key',
});
