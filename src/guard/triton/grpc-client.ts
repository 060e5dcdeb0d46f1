import { type ChannelCredentials, Client, credentials } from '@grpc/grpc-js';
import type { ClientTls } from '../../config/keys/guard-tls.ts';
import { MAX_REPLY_BYTES } from '../kserve/kserve-calls.ts';
import type { GuardAddress, Reached } from './grpc-address.ts';

/** For the connections to one address. */
export function channelCredentials(
  { secure }: GuardAddress,
  { ca, key, cert }: ClientTls,
): ChannelCredentials {
  return secure ? credentials.createSsl(pem(ca), pem(key), pem(cert)) : credentials.createInsecure();
}

function pem(text: string | undefined): Buffer | null {
  return text === undefined ? null : Buffer.from(text);
}

/** A client with a connection of its own. Does not connect before the first call. */
export function clientAt(
  { target, channelOptions }: Reached,
  channelCredentials: ChannelCredentials,
): Client {
  return new Client(target, channelCredentials, {
    'grpc.max_receive_message_length': MAX_REPLY_BYTES,
    'grpc.max_send_message_length': -1,
    // Not shared, so that closing this channel closes its connection and the next channel opens a new one. Keepalive
    // stays off: deadlines detect a dead connection as well, and a draining server still finishes our requests,
    // while a keepalive ping that it does not answer would drop the connection and the requests with it.
    'grpc.use_local_subchannel_pool': 1,
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 1000,
    // As over REST: a proxy named in the environment for other purposes gets neither content nor tokens.
    'grpc.enable_http_proxy': 0,
    ...channelOptions,
  });
}
