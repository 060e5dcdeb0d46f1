import { onTestFinished } from 'vitest';
import { startGuardServer } from '../../src/guard-server/server.ts';
import type { Fault } from '../../src/guard-server/synthetic/faults.ts';
import { gate } from '../helpers/gate.ts';
import { closeAfterEach } from '../helpers/guard-pool.ts';
import { type RestScripted, startRestGuard } from '../helpers/rest-guard.ts';
import { guardConformance, type Trouble, type TroubledGuard } from './conformance.ts';

closeAfterEach();

guardConformance('gRPC', async (): Promise<TroubledGuard> => {
  const server = await startGuardServer({
    model: 'synthetic',
    grpcPort: 0,
    synthetic: { serviceTime: 'zero' },
  });
  onTestFinished(() => server.close());
  const control = server.synthetic!;
  return {
    address: server.address,
    setTroubles: (troubles) => control.setFaults(troubles.map(asFault)),
    pause: () => control.pause(),
    resume: () => control.resume(),
    stopListening: () => control.stopListening(),
    listenAgain: () => control.listenAgain(),
  };
});

function asFault(trouble: Trouble): Fault {
  return trouble.kind === 'malformed' ? { ...trouble, reply: 'nan' } : trouble;
}

guardConformance('REST', async (): Promise<TroubledGuard> => {
  let troubles: (Trouble & { left: number })[] = [];
  let answering = gate();
  answering.open();
  const script = async ({ content }: { readonly content: string }): Promise<RestScripted> => {
    await answering.opened;
    const trouble = troubles.find(
      (it) => it.left > 0 && (it.kind === 'overload' || content.includes(it.containing)),
    );
    if (trouble === undefined) return;
    trouble.left--;
    return asReply(trouble);
  };
  let server = await startRestGuard({ script });
  const { address, port } = server;
  onTestFinished(() => {
    answering.open();
    server.kill();
  });
  return {
    address,
    setTroubles: (next) => {
      troubles = next.map((it) => ({
        ...it,
        left: 'times' in it && it.times !== undefined ? it.times : Number.POSITIVE_INFINITY,
      }));
    },
    pause: () => (answering = gate()),
    resume: () => answering.open(),
    stopListening: () => server.kill(),
    listenAgain: async () => {
      server = await startRestGuard({ script, port });
    },
  };
});

function asReply(trouble: Trouble): RestScripted {
  switch (trouble.kind) {
    case 'refuse':
      return { status: 422, body: { error: { code: trouble.code, message: 'as scripted' } } };
    case 'crash':
      return { status: 500, body: { error: { code: 'INTERNAL', message: 'as scripted' } } };
    case 'malformed':
      return { body: '{"flagged": maybe}' };
    case 'overload':
      return { status: 429, body: { error: { code: 'RATE_LIMITED', message: 'as scripted' } } };
  }
}
