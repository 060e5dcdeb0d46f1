import { onTestFinished } from 'vitest';
import { type GuardServer, startGuardServer } from '../../src/guard-server/server.ts';
import type { ScriptedFault } from '../../src/guard-server/synthetic/faults.ts';
import { freePort } from '../helpers/free-port.ts';
import { gate } from '../helpers/guards/gate.ts';
import { startOpenAiServer } from '../helpers/guards/openai-server.ts';
import { startRestGuard } from '../helpers/guards/rest-guard.ts';
import { guardConformance, type Trouble, type TroubledGuard } from './conformance.ts';

const DOORS: Readonly<Record<string, (server: GuardServer) => string>> = {
  gRPC: ({ address }) => address,
  'HTTP with the KServe protocol': ({ httpAddress }) => `kserve+${httpAddress!}`,
};

for (const [kind, addressOf] of Object.entries(DOORS)) {
  guardConformance(kind, async (): Promise<TroubledGuard> => {
    const [grpcPort, httpPort] = [await freePort(), await freePort()];
    const synthetic = { serviceTime: 'zero' } as const;
    const server = await startGuardServer({ model: 'synthetic', grpcPort, httpPort, synthetic });
    onTestFinished(() => server.close());
    const control = server.synthetic!;
    return {
      address: addressOf(server),
      setTroubles: (troubles) => control.setFaults(troubles.map(asFault)),
      pause: () => control.pause(),
      resume: () => control.resume(),
      stopListening: () => control.stopListening(),
      listenAgain: () => control.listenAgain(),
    };
  });
}

function asFault(trouble: Trouble): ScriptedFault {
  return trouble.kind === 'malformed' ? { ...trouble, reply: 'nan' } : trouble;
}

type HttpReply = { readonly status?: number; readonly body: unknown };

const failed = (status: number, code: string): HttpReply => {
  return { status, body: { error: { code, message: `${code}: as scripted` } } };
};

/** How a scripted server answers each kind of trouble; `code`: that of a refusal. */
const ANSWERS: Readonly<Record<Trouble['kind'], (code: string) => HttpReply>> = {
  refuse: (code) => failed(400, code),
  crash: () => failed(500, 'INTERNAL'),
  malformed: () => ({ body: '{"flagged": maybe}' }),
  overload: () => failed(429, 'RATE_LIMITED'),
};

type Script = (contents: readonly string[]) => Promise<HttpReply | undefined>;

interface Scriptable {
  readonly address: string;
  readonly port: number;
  kill(): void;
}

type StartScripted = (port: number, script: Script) => Promise<Scriptable>;

/** Runs the conformance suite on a scripted server. `start` starts it on a port, 0 for a free one. */
function scriptedConformance(kind: string, start: StartScripted, hears?: boolean): void {
  const troubled = async (): Promise<TroubledGuard> => {
    let troubles: (Trouble & { left: number })[] = [];
    let answering = gate();
    answering.open();
    const script: Script = async (contents) => {
      await answering.opened;
      const trouble = troubles.find(
        (it) =>
          it.left > 0 && (it.kind === 'overload' || contents.some((one) => one.includes(it.containing))),
      );
      if (trouble === undefined) return undefined;
      trouble.left--;
      return ANSWERS[trouble.kind]('code' in trouble ? trouble.code : '');
    };
    let server = await start(0, script);
    const { address, port } = server;
    onTestFinished(() => {
      answering.open();
      server.kill();
    });
    return {
      address,
      setTroubles: (next) =>
        void (troubles = next.map((it) => ({ ...it, left: it.kind === 'overload' ? it.times : Infinity }))),
      pause: () => void (answering = gate()),
      resume: () => answering.open(),
      stopListening: () => server.kill(),
      listenAgain: async () => void (server = await start(port, script)),
    };
  };
  guardConformance(kind, troubled, hears);
}

scriptedConformance('REST', (port, script) =>
  startRestGuard({ port, script: ({ content }) => script([content]) }),
);

const LLAMA = { family: 'llama-guard', model: 'meta-llama/Llama-Guard-4-12B' } as const;
scriptedConformance(
  'OpenAI-compatible',
  (port, script) => startOpenAiServer({ ...LLAMA, port, script: ({ contents }) => script(contents) }),
  false,
);
