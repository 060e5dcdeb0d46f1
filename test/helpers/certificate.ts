import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface Certificate {
  readonly key: Buffer;
  readonly certificate: Buffer;
  /** The certificate's file: it is its own authority. */
  readonly path: string;
}

/** A self-signed certificate for an IP address, valid for a day, made by the openssl command in `folder`. */
export async function makeCertificate(folder: string, ip: string): Promise<Certificate> {
  const [keyPath, path] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  await promisify(execFile)('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'],
    ...['-subj', '/CN=test guard', '-addext', `subjectAltName=IP:${ip}`, '-keyout', keyPath, '-out', path],
  ]);
  return { key: await readFile(keyPath), certificate: await readFile(path), path };
}
