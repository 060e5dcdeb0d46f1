import { resolve } from 'node:path';
import { readPublicKey } from '../../keys/signing-key.ts';
import { parseChainHead } from '../../values/hashes.ts';
import { path, single, SWITCH } from '../kinds.ts';
import { setting } from '../setting.ts';

export const JSON_OUTPUT = setting({
  flag: '--json',
  help: 'print the result as JSON instead of text',
  kind: SWITCH,
  default: 'false',
  shown: 'text',
});

export const QUIET = setting({
  flag: '--quiet',
  help: 'show no progress and no notices on stderr',
  kind: SWITCH,
  default: 'false',
  shown: 'shown',
});

export const WATCH = setting({
  flag: '--watch',
  help: 'refresh every 2 s until the run is over',
  kind: SWITCH,
  default: 'false',
  shown: 'once',
});

export const TRUST_RUN = setting({
  flag: '--trust-run',
  help: 'work on a run directory that was not created on this machine; first check what it reads and where it sends content',
  kind: SWITCH,
  default: 'false',
  shown: 'status 2',
});

export const HEAD = setting({
  flag: '--head',
  help: 'chain head you kept elsewhere, 64 hex digits; the record must end in it',
  kind: single('hash', parseChainHead),
  unset: 'not compared',
  example: '4bf5122f… (64 digits)',
});

export const HEADS_TO_HOLD = setting({
  flag: '--head-file',
  help: 'chain heads that --head-file of other commands wrote; the record must contain them',
  kind: path('file'),
  unset: 'not compared',
  example: '/var/lib/audit/heads.jsonl',
});

export const PUBLIC_KEY = setting({
  flag: '--public-key',
  help: 'Ed25519 public key in PEM; the record must be signed with its private key',
  kind: single('file', ({ value, place }, { folder }) => readPublicKey(resolve(folder, value), place)),
  unset: 'a signature is not checked',
  example: 'audit-public.pem',
});
