import { status } from '@grpc/grpc-js';
import { describe, expect, test } from 'vitest';
import type { EndpointStatus } from '../../src/guard/endpoint/endpoint-status.ts';
import type { GuardPool } from '../../src/guard/pool/pool.ts';
import {
  closeAfterAll,
  connect,
  guard,
  judge,
  restGuard,
  socketServer,
  stateOf,
} from '../helpers/guards/guard-pool.ts';
import { expectFirstTries, failure, verdict } from '../helpers/guards/outcomes.ts';
import { image, prompts } from '../helpers/guards/requests.ts';
import type { RestScripted } from '../helpers/guards/rest-guard.ts';

closeAfterAll();

const BAD = new Set(['text 3', 'text 17']);

/** Starts a guard behind a firewall that answers for it with the status that is given, if one is. */
type Firewalled = (statusOf: (isBad: boolean) => number | undefined) => Promise<{ readonly address: string }>;

const rest = (statusOf: Parameters<Firewalled>[0]) =>
  restGuard({ script: ({ content }) => blocked(statusOf(BAD.has(content))) });

const blocked = (code: number | undefined): RestScripted =>
  code === undefined ? code : { status: code, headers: { location: 'http://127.0.0.1:1/blocked' } };

/** As gRPC for a client of a proxy that answers over HTTP. */
const CODES: Readonly<Record<number, status>> = {
  401: status.UNAUTHENTICATED,
  403: status.PERMISSION_DENIED,
  404: status.NOT_FOUND,
  501: status.UNIMPLEMENTED,
};

const grpc: Firewalled = (statusOf) =>
  guard({
    script: ({ inputs }) => {
      const answered = statusOf(inputs['TEXT']!.some((text) => BAD.has(text)));
      return answered === undefined ? answered : { code: CODES[answered]!, details: 'blocked' };
    },
  });

/** The states that the endpoint of a pool takes from now on. */
function statesOf(pool: GuardPool): EndpointStatus['state']['name'][] {
  const states: EndpointStatus['state']['name'][] = [];
  pool.onStateChange(([endpoint]) => {
    const { name } = endpoint!.state;
    if (states.at(-1) !== name) states.push(name);
  });
  return states;
}

describe.concurrent('an item that a firewall turns away', () => {
  /** The statuses that a firewall may answer with in place of the guard. */
  test.each<[door: string, start: Firewalled, statuses: number[]]>([
    ['REST', rest, [302, 401, 403, 404, 451]],
    ['gRPC', grpc, Object.keys(CODES).map(Number)],
  ])('over %s is rejected alone, and the guard stays in use', async (door, start, statuses) => {
    const turnAway = async (code: number): Promise<void> => {
      const pool = await connect([await start((isBad) => (isBad ? code : undefined))]);
      const states = statesOf(pool);
      const outcomes = await judge(pool, prompts(40));
      const says = door === 'gRPC' ? `gRPC status ${status[CODES[code]!]}` : `HTTP status ${code}`;
      const error = { code: 'GUARD_REJECTED', message: expect.stringContaining(says) as string };
      outcomes.forEach((outcome, index) => {
        if (!BAD.has(`text ${index}`)) expect(verdict(outcome).attempts).toBe(1);
        else expect(failure(outcome)).toMatchObject({ error, attempts: 1 });
      });
      expect({ code, states }).toEqual({ code, states: [] });
    };
    await Promise.all(statuses.map(turnAway));
  });

  test('costs no other kind of item if all of its kind are', async () => {
    const script = ({ file }: { file: unknown }) => (file === null ? undefined : { status: 403 });
    const pool = await connect([await restGuard({ script })]);
    const states = statesOf(pool);
    const outcomes = await judge(pool, [image('i'), ...prompts(10), image('j')]);
    for (const index of [0, 11]) expect(failure(outcomes[index]).error.code).toBe('PROBE_NOT_LOADED');
    for (const outcome of outcomes.slice(1, 11)) verdict(outcome);
    expect(states).toEqual([]);
  });
});

test.concurrent(
  'a guard that turns everything away is out of use until it no longer does, asked less and less often',
  async () => {
    let shut = false;
    const server = await rest(() => (shut ? 302 : undefined));
    // A guard that is not fatally out keeps the run waiting.
    const pool = await connect([server, await socketServer()], { maxWaitMs: 120_000 });
    const isOut = stateOf(pool, 'out', server.address);
    shut = true;
    const states = statesOf(pool);
    const judged = judge(pool, prompts(40));
    await isOut;
    const before = server.harmless();
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(server.harmless() - before).toBeLessThanOrEqual(8);
    shut = false;
    expectFirstTries(await judged);
    expect(states).toEqual(['out', 'ready']);
  },
);
