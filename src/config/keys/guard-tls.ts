import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { usageError, type WithOrigin } from '../usage-error.ts';
import { GUARD_CA, GUARD_CERT, GUARD_KEY } from '../settings/entries/guard.ts';
import { type Sources, resolveSettings } from '../settings/given.ts';
import { overTls } from '../values/guard-url.ts';
import { readKeyFile } from './key-file.ts';

/** The certificates that this process trusts and presents as a TLS client, in PEM. Keys are named as in Node's TLS options. */
export interface ClientTls {
  /** Certificates of the only trusted authorities; absent to trust Node's. */
  readonly ca?: string;
  /** Certificate, with its chain, presented to a server that asks for one; never without `key`. */
  readonly cert?: string;
  /** Private key of `cert`. */
  readonly key?: string;
}

const MAX_BYTES = 1024 * 1024;
const CERTIFICATE_BEGIN = '-----BEGIN CERTIFICATE-----';
const HOW_TO_DECRYPT = 'openssl pkey -in encrypted.pem -out plain.pem decrypts one';

/** The settings for TLS connections to guards. */
export const GUARD_TLS_SETTINGS = { guardCa: GUARD_CA, guardCert: GUARD_CERT, guardKey: GUARD_KEY };

/** The files named by these settings, or null. */
export interface GuardTlsFiles {
  readonly ca: WithOrigin<string> | null;
  readonly cert: WithOrigin<string> | null;
  readonly key: WithOrigin<string> | null;
}

/** Resolves the paths without reading the files. */
export async function resolveGuardTlsFiles(from: Sources): Promise<GuardTlsFiles> {
  const { guardCa: ca, guardCert: cert, guardKey: key } = await resolveSettings(GUARD_TLS_SETTINGS, from);
  return { ca, cert, key };
}

/**
 * Reads and checks the files for TLS connections to `guards`. Failure('usage') if one is unreadable or invalid, if
 * every user can read the key, if key and certificate do not match or one of them is missing, and if a flag or a job
 * file names a file although no guard is reached over TLS. Never quotes a key.
 */
export async function readGuardTls(
  { ca, cert, key }: GuardTlsFiles,
  guards: readonly string[],
): Promise<ClientTls> {
  if (!guards.some(overTls)) {
    refuseGuardTls({ ca, cert, key }, 'no guard is reached over TLS, such as grpcs://host:8001');
    return {};
  }
  const trusted = ca === null ? {} : { ca: await certificatesIn(ca) };
  if (cert === null && key === null) return trusted;
  if (cert === null) throw usageError(key!.place, 'name its certificate as well, with --guard-cert');
  if (key === null) throw usageError(cert.place, 'name its private key as well, with --guard-key');
  const chain = await certificatesIn(cert);
  const pem = await readKeyFile(key.value, { place: key.place, maxBytes: MAX_BYTES, secret: true });
  if (!new X509Certificate(chain).checkPrivateKey(privateKeyIn(pem, key))) {
    throw usageError(key.place, `${key.value} is not the key of the certificate in ${cert.value}`);
  }
  return { ...trusted, cert: chain, key: pem };
}

/** Failure('usage') with this reason if a flag or a job file names one of the files. */
export function refuseGuardTls({ ca, cert, key }: GuardTlsFiles, reason: string): void {
  const chosen = ca ?? cert ?? key;
  if (chosen) throw usageError(chosen.place, reason);
}

/** Reads a PEM file of certificates. */
async function certificatesIn({ value: path, place }: WithOrigin<string>): Promise<string> {
  const pem = await readKeyFile(path, { place, maxBytes: MAX_BYTES, secret: false });
  const [, ...certificates] = pem.split(CERTIFICATE_BEGIN);
  try {
    for (const certificate of certificates) new X509Certificate(CERTIFICATE_BEGIN + certificate);
  } catch (cause) {
    throw usageError(place, `${path} holds a certificate that cannot be read`, cause);
  }
  if (certificates.length === 0) throw usageError(place, `${path} holds no certificate in PEM`);
  return pem;
}

function privateKeyIn(pem: string, { value: path, place }: WithOrigin<string>): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    // The cause may quote secret text.
    throw usageError(place, `${path} holds no unencrypted private key in PEM; ${HOW_TO_DECRYPT}`);
  }
}
