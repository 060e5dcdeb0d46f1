import { resolve } from 'node:path';
import { publicKeyIn } from '../../keys/signing-key.ts';
import { parseChainHead } from '../../values/chain-head.ts';
import { path, single } from '../kinds.ts';
import { setting } from '../setting.ts';

export const HEAD = setting({
  flag: '--head',
  help: 'chain head that was noted elsewhere, 64 hex digits; the record must end in it',
  kind: single('hash', parseChainHead),
  unset: 'not compared',
  example: '4bf5122f… (64 digits)',
});

export const HEADS_TO_HOLD = setting({
  flag: '--head-file',
  help: 'chain heads that were noted elsewhere with the --head-file of other commands; the record must hold them',
  kind: path('file'),
  unset: 'not compared',
  example: '/var/lib/audit/heads.jsonl',
});

export const PUBLIC_KEY = setting({
  flag: '--public-key',
  help: 'Ed25519 public key in PEM; the record must be signed with its private key',
  kind: single('file', ({ value, place }, { folder }) => publicKeyIn(resolve(folder, value), place)),
  unset: 'a signature is not checked',
  example: 'audit-public.pem',
});
