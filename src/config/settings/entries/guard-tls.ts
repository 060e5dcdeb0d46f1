import { namedFile } from '../kinds.ts';
import { setting } from '../setting.ts';
import { GUARD_CA_FILE, GUARD_CERT_FILE, GUARD_KEY_FILE } from './environment.ts';

const KEY_NOTE = 'relative to the job file';

export const GUARD_CA = setting({
  flag: '--guard-ca',
  key: 'guardCa',
  variable: GUARD_CA_FILE,
  help: 'trust only guards with a certificate of an authority in this PEM file',
  keyNote: KEY_NOTE,
  kind: namedFile(GUARD_CA_FILE),
  unset: 'the authorities that Node trusts',
  example: '/etc/guardsweep/ca.pem',
});

export const GUARD_CERT = setting({
  flag: '--guard-cert',
  key: 'guardCert',
  variable: GUARD_CERT_FILE,
  help: 'present the certificate in this PEM file to guards that ask for one (mTLS)',
  keyNote: KEY_NOTE,
  kind: namedFile(GUARD_CERT_FILE),
  unset: 'none',
  example: '/etc/guardsweep/client.pem',
});

export const GUARD_KEY = setting({
  flag: '--guard-key',
  key: 'guardKey',
  variable: GUARD_KEY_FILE,
  help: 'private key of the certificate in --guard-cert: a PEM file that not every user can read',
  keyNote: KEY_NOTE,
  kind: namedFile(GUARD_KEY_FILE),
  unset: 'none',
  example: '/etc/guardsweep/client.key',
});
