import { execFile, execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface Certificate {
  readonly key: Buffer;
  readonly certificate: Buffer;
  readonly path: string;
  readonly keyPath: string;
}

/** What a server needs for TLS, in PEM. With `clientAuthority`, clients must present a certificate of it. */
export interface ServerTls {
  readonly key: Buffer;
  readonly certificate: Buffer;
  readonly clientAuthority?: Buffer;
}

/** The same for Node's HTTPS server. */
export function httpsOptions({ key, certificate, clientAuthority }: ServerTls) {
  const client = { ca: clientAuthority, requestCert: true, rejectUnauthorized: true };
  return { key, cert: certificate, ...(clientAuthority === undefined ? {} : client) };
}

/** A self-signed certificate for an IP address, valid for a day, made by the openssl command in `folder`. */
export function makeCertificate(folder: string, ip: string): Promise<Certificate> {
  return made(folder, 'certificate', ['-addext', `subjectAltName=IP:${ip}`]);
}

/** A certificate for an IP address from an authority that `makeCertificate` made. */
export function issueCertificate(
  folder: string,
  name: string,
  { path, keyPath }: Certificate,
  ip: string,
): Promise<Certificate> {
  const names = ['-addext', `subjectAltName=IP:${ip}`, '-addext', 'basicConstraints=critical,CA:FALSE'];
  return made(folder, name, ['-CA', path, '-CAkey', keyPath, ...names]);
}

async function made(folder: string, name: string, options: readonly string[]): Promise<Certificate> {
  const [keyPath, path] = [join(folder, `${name}.key`), join(folder, `${name}.pem`)];
  await promisify(execFile)('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'],
    ...['-subj', `/CN=test ${name}`, ...options, '-keyout', keyPath, '-out', path],
  ]);
  return { key: await readFile(keyPath), certificate: await readFile(path), path, keyPath };
}

/** A pair of Ed25519 keys for signatures in `folder`, as the openssl command makes them. */
export function makeSigningKeys(folder: string) {
  const [key, publicKey] = [join(folder, 'key.pem'), join(folder, 'public.pem')];
  execFileSync('openssl', ['genpkey', '-algorithm', 'ed25519', '-out', key]);
  execFileSync('openssl', ['pkey', '-in', key, '-pubout', '-out', publicKey]);
  return { key, publicKey };
}
