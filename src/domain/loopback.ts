import { BlockList, isIP } from 'node:net';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/**
 * Whether a host can only be this machine: `localhost`, 127.0.0.0/8 or ::1, the latter with or without the brackets of a
 * URL. Other names are not looked up: what they mean is somebody else's to change.
 */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  const family = isIP(bare);
  if (family === 0) return bare === 'localhost';
  return LOOPBACK.check(bare, family === 4 ? 'ipv4' : 'ipv6');
}
