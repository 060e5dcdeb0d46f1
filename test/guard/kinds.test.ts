import { onTestFinished } from 'vitest';
import { type GuardServer, startGuardServer } from '../../src/guard-server/server.ts';
import type { ScriptedFault } from '../../src/guard-server/synthetic/faults.ts';
import { freePort } from '../helpers/free-port.ts';
import { gate } from '../helpers/guards/gate.ts';
import { closeAfterEach } from '../helpers/guards/guard-pool.ts';
import { type OpenAiScripted, startOpenAiServer } from '../helpers/guards/openai-server.ts';
import { type RestScripted, startRestGuard } from '../helpers/guards/rest-guard.ts';
import { guardConformance, type Trouble, type TroubledGuard } from './conformance.ts';

closeAfterEach();

const DOORS = {
  gRPC: ({ address }) => address,
  'HTTP with the KServe protocol': ({ httpAddress }) => `kserve+${httpAddress!}`,
} satisfies Record<string, (server: GuardServer) => string>;

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

/** How a scripted server answers each kind of trouble; `code`: that of a refusal. */
type Answers<T> = Readonly<Record<Trouble['kind'], (code: string) => T>>;

type Script<T> = (contents: readonly string[]) => Promise<T | undefined>;

interface Scriptable {
  readonly address: string;
  readonly port: number;
  kill(): void;
}

/** Runs the conformance suite on a scripted server. `start` starts it on a port, 0 for a free one. */
function scriptedConformance<T>(
  kind: string,
  answers: Answers<T>,
  start: (port: number, script: Script<T>) => Promise<Scriptable>,
  options?: Parameters<typeof guardConformance>[2],
): void {
  const troubled = async (): Promise<TroubledGuard> => {
    let troubles: (Trouble & { left: number })[] = [];
    let answering = gate();
    answering.open();
    const script: Script<T> = async (contents) => {
      await answering.opened;
      const trouble = troubles.find(
        (it) =>
          it.left > 0 && (it.kind === 'overload' || contents.some((one) => one.includes(it.containing))),
      );
      if (trouble === undefined) return undefined;
      trouble.left--;
      return answers[trouble.kind]('code' in trouble ? trouble.code : '');
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
  guardConformance(kind, troubled, options);
}

const coded = (status: number, code: string) => ({
  status,
  body: { error: { code, message: 'as scripted' } },
});
const REST: Answers<RestScripted> = {
  refuse: (code) => coded(422, code),
  crash: () => coded(500, 'INTERNAL'),
  malformed: () => ({ body: '{"flagged": maybe}' }),
  overload: () => coded(429, 'RATE_LIMITED'),
};
scriptedConformance('REST', REST, (port, script) =>
  startRestGuard({ port, script: ({ content }) => script([content]) }),
);

const told = (status: number, message: string) => ({ status, body: { error: { message } } });
const OPENAI: Answers<OpenAiScripted> = {
  refuse: (code) => told(400, `${code}: as scripted`),
  crash: () => told(500, 'as scripted'),
  malformed: () => ({ body: '<html>' }),
  overload: () => told(429, 'as scripted'),
};
const LLAMA = { family: 'llama-guard', model: 'meta-llama/Llama-Guard-4-12B' } as const;
scriptedConformance(
  'OpenAI-compatible',
  OPENAI,
  (port, script) => startOpenAiServer({ ...LLAMA, port, script: ({ contents }) => script(contents) }),
  { hears: false },
);
