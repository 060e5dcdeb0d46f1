import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ClientTls } from '../../src/config/keys/guard-tls.ts';
import {
  type Certificate,
  issueCertificate,
  makeCertificate,
  type ServerTls,
} from '../helpers/certificate.ts';
import {
  connect,
  guard,
  judge,
  kserveHttpServer,
  refusalOf,
  restGuard,
} from '../helpers/guards/guard-pool.ts';
import { verdict } from '../helpers/guards/outcomes.ts';
import { prompt } from '../helpers/guards/requests.ts';

/** Guards that require a certificate of `authority`, and have one of it. */
let tls: ServerTls;
let authority: Certificate;
let client: Certificate;
/** An authority of somebody else. */
let stranger: Certificate;

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'client-certificates-'));
  authority = await makeCertificate(folder, '127.0.0.1');
  stranger = await makeCertificate(await mkdtemp(join(folder, 'elsewhere-')), '127.0.0.1');
  const server = await issueCertificate(folder, 'server', authority, '127.0.0.1');
  client = await issueCertificate(folder, 'client', authority, '127.0.0.1');
  tls = { ...server, clientAuthority: authority.certificate };
  return () => rm(folder, { recursive: true });
});

function presenting(identity: Certificate | null, trusted = authority): ClientTls {
  const ca = trusted.certificate.toString();
  if (identity === null) return { ca };
  return { ca, cert: identity.certificate.toString(), key: identity.key.toString() };
}

describe.each([
  ['gRPC', guard],
  ['REST', restGuard],
  ['KServe HTTP', kserveHttpServer],
] as const)('a guard over %s that asks for a certificate', (_, start) => {
  it('judges for a client that presents one of its authority, with the token', async () => {
    const asked = { tls: presenting(client), token: () => 'secret' };
    const pool = await connect([await start({ tls })], asked);
    verdict((await judge(pool, [prompt('a')]))[0]);
  });

  it.each([
    ['without one', false, /it requires a certificate that it trusts: see --guard-cert/],
    ['that trusts another authority', true, /its certificate is not trusted: see --guard-ca/],
  ])('gets nothing from a client %s', async (_, isStranger, says) => {
    const server = await start({ tls });
    const identity = isStranger ? presenting(client, stranger) : presenting(null);
    expect(await refusalOf([server], { tls: identity })).toMatch(says);
    expect(server.seen).toEqual([]);
  });
});
