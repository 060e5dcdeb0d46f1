import { Redis } from 'ioredis';
import { settled } from '../settled.ts';

const SLOTS = 16_384;

/** Settings of a server that is a node of a cluster. */
export const CLUSTER_NODE = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000'];

/** Makes a node the owner of every slot, and waits until it serves them. `others` get to know it and own nothing. */
export async function ownAllSlots(port: number, others: readonly number[] = []): Promise<void> {
  const node = new Redis(port);
  try {
    for (const other of others) await node.call('CLUSTER', 'MEET', '127.0.0.1', String(other));
    // In pieces, as a server before 7.0 wants it too.
    for (let from = 0; from < SLOTS; from += 1024) {
      const slots = Array.from({ length: 1024 }, (_, slot) => String(from + slot));
      await node.call('CLUSTER', 'ADDSLOTS', ...slots);
    }
  } finally {
    node.disconnect();
  }
  for (const at of [port, ...others]) await serves(at);
}

async function serves(port: number): Promise<void> {
  const node = new Redis(port);
  try {
    await settled(async () => String(await node.call('CLUSTER', 'INFO')).includes('cluster_state:ok'));
  } finally {
    node.disconnect();
  }
}
