import { seededRandom } from '../../training/random.ts';
import type { GuardAddresses } from '../processes/guard-addresses.ts';
import { randomGenerations } from './generations.ts';
import { GrpcStreamClient } from './grpc-streams.ts';
import { GrpcUnaryClient } from './grpc-unary.ts';
import { HttpUnaryClient } from './http-unary.ts';
import type { Caller } from './load.ts';
import { streamAlone, streamCaller } from './stream-caller.ts';
import type { StreamClient } from './stream-client.ts';
import { BAD_STREAMS } from './stream-scripts.ts';
import { BAD_CALLS, goodCalls } from './unary-calls.ts';
import { judgeAlone, unaryCaller, type UnaryClient } from './unary-caller.ts';
import { WebSocketStreamClient } from './websocket-streams.ts';

/** An interface for calling a guard. */
export interface Door {
  readonly name: string;
  /** All kinds of bad requests. Each caller begins with one of them. */
  readonly badKinds: readonly string[];
  /** Creates callers that send random requests, with reference verdicts that are taken before this resolves. */
  callers(guard: GuardAddresses, count: number, seed: number): Promise<Caller[]>;
}

/** Number of different valid requests and generations. */
const REFERENCES = 90;

export const DOORS: readonly Door[] = [
  unaryDoor('gRPC', ({ grpc }) => new GrpcUnaryClient(grpc)),
  unaryDoor('HTTP', ({ http }) => new HttpUnaryClient(http)),
  streamDoor('gRPC streams', ({ grpc }) => new GrpcStreamClient(grpc)),
  streamDoor('WebSocket streams', ({ http }) => new WebSocketStreamClient(http)),
];

/** Makes a door for unary requests. The references of all doors come over gRPC. */
function unaryDoor(name: string, connect: (guard: GuardAddresses) => UnaryClient): Door {
  return {
    name,
    badKinds: BAD_CALLS,
    callers: async (guard, count, seed) => {
      const alone = new GrpcUnaryClient(guard.grpc);
      const good = await judgeAlone(goodCalls(seededRandom(seed), REFERENCES), alone);
      alone.close();
      return range(count).map((at) => unaryCaller(at, connect(guard), good, seededRandom(seed + 1 + at)));
    },
  };
}

function streamDoor(name: string, connect: (guard: GuardAddresses) => StreamClient): Door {
  return {
    name,
    badKinds: BAD_STREAMS,
    callers: async (guard, count, seed) => {
      const alone = new GrpcStreamClient(guard.grpc);
      const good = await streamAlone(randomGenerations(seededRandom(seed), REFERENCES), alone);
      alone.close();
      return range(count).map((at) => streamCaller(at, connect(guard), good, seededRandom(seed + 1 + at)));
    },
  };
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at);
}
