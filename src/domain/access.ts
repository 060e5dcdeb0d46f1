import { BlockList, isIP } from 'node:net';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** The default address that servers listen on. */
export const LOOPBACK_HOST = '127.0.0.1';

/**
 * Whether a host can only be this machine: `localhost`, 127.0.0.0/8 or ::1, with or without the brackets of a URL.
 * Other names are not looked up, because DNS may change what they resolve to.
 */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  const family = isIP(bare);
  if (family === 0) return bare === 'localhost';
  return LOOPBACK.check(bare, family === 4 ? 'ipv4' : 'ipv6');
}

/** Whether a header can carry the token: printable ASCII without spaces, and not empty. */
export function isToken(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}
