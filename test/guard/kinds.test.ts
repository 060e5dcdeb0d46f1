import { status } from '@grpc/grpc-js';
import { onTestFinished } from 'vitest';
import { type GuardServer, startGuardServer } from '../../src/guard-server/server.ts';
import type { ScriptedFault } from '../../src/guard-server/synthetic/faults.ts';
import { gate } from '../helpers/guards/gate.ts';
import { closeAfterEach } from '../helpers/guards/guard-pool.ts';
import { type HttpScripted, startKserveHttpServer } from '../helpers/guards/kserve-http-server.ts';
import { type Scripted, startKserveServer } from '../helpers/guards/kserve-server.ts';
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
    const server = await startGuardServer({
      model: 'synthetic',
      grpcPort: 0,
      httpPort: 0,
      synthetic: { serviceTime: 'zero' },
    });
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

/** What a scripted server does of its troubles, and when it answers. */
class Troubles {
  #troubles: (Trouble & { left: number })[] = [];
  #answering = gate();

  constructor() {
    this.#answering.open();
  }

  set(troubles: readonly Trouble[]): void {
    this.#troubles = troubles.map((it) => ({
      ...it,
      left: 'times' in it && it.times !== undefined ? it.times : Number.POSITIVE_INFINITY,
    }));
  }

  pause(): void {
    this.#answering = gate();
  }

  resume(): void {
    this.#answering.open();
  }

  /** The trouble that a request with these contents meets, once requests are answered. */
  async next(contents: readonly string[]): Promise<Trouble | undefined> {
    await this.#answering.opened;
    const trouble = this.#troubles.find(
      (it) =>
        it.left > 0 &&
        (it.kind === 'overload' || contents.some((content) => content.includes(it.containing))),
    );
    if (trouble !== undefined) trouble.left--;
    return trouble;
  }
}

interface Scriptable {
  readonly address: string;
  readonly port: number;
  kill(): void;
}

/** `start` starts a server on a port, 0 for a free one, that asks the troubles what to do. */
async function troubled(
  troubles: Troubles,
  start: (port: number) => Promise<Scriptable>,
): Promise<TroubledGuard> {
  let server = await start(0);
  const { address, port } = server;
  onTestFinished(() => {
    troubles.resume();
    server.kill();
  });
  return {
    address,
    setTroubles: (next) => troubles.set(next),
    pause: () => troubles.pause(),
    resume: () => troubles.resume(),
    stopListening: () => server.kill(),
    listenAgain: async () => {
      server = await start(port);
    },
  };
}

guardConformance('KServe without ModelConfig', () => {
  const troubles = new Troubles();
  const script = async (contents: readonly string[]): Promise<Scripted> =>
    asTyped(await troubles.next(contents));
  return troubled(troubles, (port) => startKserveServer({ port, script }));
});

function asTyped(trouble: Trouble | undefined): Scripted {
  switch (trouble?.kind) {
    case 'refuse':
      return {
        code: status.INVALID_ARGUMENT,
        details: `mlserver.errors.InferenceError: ${trouble.code}: as scripted`,
      };
    case 'crash':
      return { code: status.UNKNOWN, details: "Unexpected <class 'ValueError'>: as scripted" };
    case 'malformed':
      return {
        reply: (reply) => ({
          ...reply,
          outputs: reply.outputs.map((output) => ({ ...output, contents: { fp32_contents: [0.5] } })),
        }),
      };
    case 'overload':
      return { code: status.RESOURCE_EXHAUSTED, details: 'as scripted' };
    case undefined:
      return;
  }
}

guardConformance('REST', () => {
  const troubles = new Troubles();
  const script = async ({ content }: { readonly content: string }): Promise<RestScripted> => {
    const trouble = await troubles.next([content]);
    return trouble === undefined ? undefined : asReply(trouble);
  };
  return troubled(troubles, (port) => startRestGuard({ script, port }));
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

guardConformance('HTTP with the KServe protocol, in JSON', () => {
  const troubles = new Troubles();
  const script = async (contents: readonly string[]): Promise<HttpScripted> => {
    const trouble = await troubles.next(contents);
    return trouble === undefined ? undefined : asHttpReply(trouble);
  };
  return troubled(troubles, (port) => startKserveHttpServer({ form: 'mlserver', script, port }));
});

function asHttpReply(trouble: Trouble): HttpScripted {
  const error = (status: number, text: string) => ({ status, body: JSON.stringify({ error: text }) });
  switch (trouble.kind) {
    case 'refuse':
      return error(400, `mlserver.errors.InferenceError: ${trouble.code}: as scripted`);
    case 'crash':
      return error(500, 'as scripted');
    case 'malformed':
      return { body: '{"outputs": maybe}' };
    case 'overload':
      return error(503, 'Exceeds maximum queue size');
  }
}

const OPENAI = [
  { family: 'llama-guard', model: 'meta-llama/Llama-Guard-4-12B' },
  { family: 'moderations', model: 'omni-moderation-latest' },
] as const;

for (const served of OPENAI) {
  const start = (): Promise<TroubledGuard> => {
    const troubles = new Troubles();
    const script = async ({
      contents,
    }: {
      readonly contents: readonly string[];
    }): Promise<OpenAiScripted> => {
      const trouble = await troubles.next(contents);
      return trouble === undefined ? undefined : asOpenAi(trouble);
    };
    return troubled(troubles, (port) => startOpenAiServer({ ...served, script, port }));
  };
  guardConformance(`OpenAI-compatible, ${served.family}`, start, { hears: false });
}

function asOpenAi(trouble: Trouble): OpenAiScripted {
  switch (trouble.kind) {
    case 'refuse':
      return { status: 400, body: { error: { message: `${trouble.code}: as scripted` } } };
    case 'crash':
      return { status: 500, body: { error: { message: 'as scripted' } } };
    case 'malformed':
      return { body: '<html>' };
    case 'overload':
      return { status: 429, body: { error: { message: 'as scripted' } } };
  }
}
