import { status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import {
  guard,
  kserveHttpServer,
  kserveServer,
  openAiServer,
  readingOf,
  refusalOf,
  restGuard,
  socketServer,
} from '../helpers/guards/guard-pool.ts';
import { type RpcError, ScriptedError } from '../helpers/guards/fake-grpc.ts';
import type { KserveServerOptions, Metadata } from '../helpers/guards/kserve-server.ts';
import type { OpenAiServerOptions } from '../helpers/guards/openai-server.ts';
import type { RestScripted } from '../helpers/guards/rest-guard.ts';
import type { ScriptedGuardOptions } from '../helpers/guards/scripted-guard.ts';

/** What a model says that is no verdict: no message repeats it. */
const SAID = 'Hello!';

const grpc = (options: ScriptedGuardOptions) => () => guard(options);
const without = (list: 'input' | 'output', name: string) =>
  grpc({ config: (all) => ({ ...all, [list]: all[list].filter((tensor) => tensor.name !== name) }) });
const kserve = (options: KserveServerOptions) => () => kserveServer(options);
/** A KServe server that declares one of its tensors otherwise. */
const declaring = (name: string, change: object) => {
  const changed = (tensors: Metadata['inputs']) =>
    tensors.map((tensor) => (tensor.name === name ? { ...tensor, ...change } : tensor));
  return kserve({
    changeMetadata: ({ inputs, outputs }) => ({ inputs: changed(inputs), outputs: changed(outputs) }),
  });
};
const READY = '/v2/health/ready';
const http = (path: string, code: number, body = '') => {
  const get = (asked: string) => (asked === path ? { status: code, body } : undefined);
  return () => kserveHttpServer({ form: body === '' ? 'triton' : 'mlserver', get });
};
const rest = (reply: RestScripted) => () => restGuard({ script: () => reply });
const socket = (refuse: string) => () => socketServer({ refuse });
const LLAMA = { family: 'llama-guard', model: 'meta-llama/Llama-Guard-3-8B' } as const;
/** A server whose address does not say of which family its model is. */
const openAi = (options: Partial<OpenAiServerOptions>) => async () => {
  const { address } = await openAiServer({ ...LLAMA, ...options });
  return { address: address.replace(/&family=.*/, '') };
};

const noModel = { code: status.NOT_FOUND, details: 'Model with name guard does not exist.' };
const fails = (error: RpcError) => () => {
  throw new ScriptedError(error);
};
const noVersion: ScriptedGuardOptions['onVersion'] = () => ({
  reply: (reply) => ({ ...reply, outputs: [] }),
});
const NO_CREDIT = { error: { code: 'insufficient_quota' } };
const SHIELD_GEMMA = { family: 'shieldgemma', model: 'google/shieldgemma-9b' } as const;

interface Started {
  readonly address: string;
  /** How often a guard over REST was asked for a verdict. */
  readonly harmless?: () => number;
}

test.each<[door: string, says: string, start: () => Promise<Started>]>([
  ['gRPC', 'MESSAGES', without('input', 'MESSAGES')],
  ['gRPC', 'SCORE', without('output', 'SCORE')],
  ['gRPC', 'no model guard', grpc({ config: fails(noModel) })],
  ['gRPC', 'no artifact hashes', grpc({ onVersion: noVersion })],
  ['KServe', 'ModelMetadata declares no inputs: the server must declare', kserve({ declared: 'nothing' })],
  ['KServe', 'input MESSAGES is missing', declaring('MESSAGES', { name: 'OTHER' })],
  ['KServe', 'input REQUEST_TYPE is not BYTES', declaring('REQUEST_TYPE', { datatype: 'FP64' })],
  ['KServe', 'MESSAGES does not have the shape [-1, -1, 2]', declaring('MESSAGES', { shape: [-1, 2] })],
  ['KServe', 'output SCORE does not have the shape [-1, 1]', declaring('SCORE', { shape: [-1] })],
  ['KServe', 'it has no model guard', kserve({ noModel })],
  ['KServe HTTP', 'no such path: name the base address of the guard, before /v1 or /v2', http(READY, 404)],
  ['KServe HTTP', 'redirects elsewhere', http(READY, 302)],
  ['KServe HTTP', 'not authorised', http('/v2/models/guard/config', 403)],
  ['KServe HTTP', 'does not speak the protocol of a guard', http('/v2/models/guard', 200, '<html>')],
  ['REST', 'not a verdict', rest({ headers: { 'content-type': 'text/html' }, body: '<html>' })],
  ['REST', 'not authorised', rest({ status: 401 })],
  ['REST', 'protocol of a guard', rest({ status: 400 })],
  ['a WebSocket', 'not authorised', socket('401 Unauthorized')],
  ['a WebSocket', 'it has no such path', socket('404 Not Found')],
  ['a WebSocket', 'it redirects elsewhere', socket('302 Found')],
  ['OpenAI', 'does not serve the model meta-llama', openAi({ models: [{ id: 'another' }] })],
  ['OpenAI', 'add &family= and one of llama-guard, qwen3guard', openAi({ model: 'my-model' })],
  ['OpenAI', 'not an answer of the family', openAi({ script: () => ({ text: SAID }) })],
  ['OpenAI', 'not authorised', openAi({ script: () => ({ status: 401 }) })],
  ['OpenAI without credit', 'not authorised', openAi({ script: () => ({ status: 429, body: NO_CREDIT }) })],
  ['OpenAI', 'ignores chat_template_kwargs', openAi({ ...SHIELD_GEMMA, ignoresArguments: true })],
])('a guard over %s is refused at once: %s', async (_, says, start) => {
  const server = await start();
  const message = await refusalOf([server]);
  expect(server.harmless?.() ?? 1).toBe(1);
  expect(message).toContain(says);
  expect(message).toContain(server.address);
  expect(message).not.toMatch(new RegExp(`became usable within|${SAID}`));
  await expect(readingOf(server)).rejects.toMatchObject({ kind: 'service' });
});
