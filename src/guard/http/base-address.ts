import { Failure } from '../../domain/failure.ts';
import { isLoopback } from '../../domain/loopback.ts';
import type { GuardEndpoint } from '../protocol/address.ts';

/** Base URL of a guard's REST endpoints, or of the KServe v2 protocol. */
export interface BaseAddress {
  /** Without the brackets of an IPv6 address. */
  readonly host: string;
  readonly port: number;
  readonly secure: boolean;
  readonly loopback: boolean;
  /** Prefix of `/v1/...` or `/v2/...`: empty, or with a leading slash and no trailing one. */
  readonly path: string;
}

/** Parses an endpoint's address. Failure('usage') unless it is an http(s):// or kserve+http(s):// URL without user or query. */
export function parseBaseAddress({ name, address }: GuardEndpoint): BaseAddress {
  const plainAddress = address.replace(/^kserve\+/i, '');
  const url = URL.canParse(plainAddress) ? new URL(plainAddress) : null;
  const plain =
    url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (!plain || !['http:', 'https:'].includes(url.protocol)) {
    throw new Failure('usage', `guard ${name}: the address must look like https://host or http://host:9000`);
  }
  const secure = url.protocol === 'https:';
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
    secure,
    loopback: isLoopback(url.hostname),
    // linear: a match begins only at the first slash of a run.
    path: url.pathname.replace(/(?<!\/)\/+$/, ''),
  };
}
