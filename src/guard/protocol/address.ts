import { Failure } from '../../domain/failure.ts';
import { isLoopback } from '../../domain/access.ts';

/** A guard the run may use. */
export interface GuardEndpoint {
  /** Name as recorded: `embedded:`, `grpc://host:8001`, `https://host`, `kserve+http://host:8000`. */
  readonly name: string;
  /** A URL; its scheme selects the transport. */
  readonly address: string;
}

/** The machine of a guard, and whether it is reached over TLS. */
export interface GuardHost {
  /** A name or an IP address; IPv6 without brackets. */
  readonly host: string;
  readonly secure: boolean;
  readonly loopback: boolean;
}

/** Base URL of a guard's HTTP endpoints. */
export interface BaseAddress extends GuardHost {
  readonly port: number;
  /** Prefix of `/v1/...` or `/v2/...`: empty, or with a leading slash and no trailing one. */
  readonly path: string;
}

/** The scheme of a URL, without the colon. */
export function schemeOf(address: string): string {
  return address.slice(0, Math.max(0, address.indexOf(':'))).toLowerCase();
}

/**
 * Parses an endpoint's address as an HTTP one, whatever its scheme: schemes of TLS end in `s`. Failure('usage'), whose
 * message has the `example`, for anything but a URL without user and query.
 */
export function parseBaseAddress({ name, address }: GuardEndpoint, example: string): BaseAddress {
  const secure = /(https|wss)$/i.test(schemeOf(address));
  const plainAddress = `${secure ? 'https' : 'http'}${address.slice(schemeOf(address).length)}`;
  const url = URL.canParse(plainAddress) ? new URL(plainAddress) : null;
  const plain =
    url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (!plain) throw new Failure('usage', `guard ${name}: the address must look like ${example}`);
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
    secure,
    loopback: isLoopback(url.hostname),
    // Linear time: a match begins only at the first slash of a run.
    path: url.pathname.replace(/(?<!\/)\/+$/, ''),
  };
}
