import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Flight } from '../../../src/guard/endpoint/flight.ts';
import { Sender } from '../../../src/guard/endpoint/sender.ts';
import { StreamSlots } from '../../../src/guard/streams/stream-slots.ts';
import { Task } from '../../../src/guard/tasks/task.ts';
import { TaskQueue } from '../../../src/guard/tasks/task-queue.ts';
import { prompt } from '../../helpers/guards/guard-pool.ts';

const ROWS = 64;
const owner = { over: false, settle: () => null };

/** What a sender wakes up to do comes in the next turn of the loop, which may be asked for in this one. */
async function settled(): Promise<void> {
  await setImmediate();
  await setImmediate();
}

function textTask(): Task {
  return new Task(owner, 0, prompt('text'), '', null);
}

/** A sender for one endpoint with three full requests in flight at most, and a backlog that is never short. */
function busySender(): { sender: Sender; flights: Flight[]; complete: (flight: Flight) => void } {
  const backlog = new TaskQueue();
  const flights: Flight[] = [];
  const ended = new Map<Flight, () => void>();
  for (let task = 0; task < 20 * ROWS; task++) backlog.add(textTask());
  const sender = new Sender(
    {
      maxBatchSize: ROWS,
      concurrency: { limit: 3 * ROWS, completed: () => {}, overloaded: () => {} },
      slots: new StreamSlots(null),
      backlog,
      takes: () => true,
      isOneOfMany: () => false,
    },
    {
      open: () => true,
      stamp: () => ({ epoch: 0, successes: 0 }),
      send: (flight) => {
        flights.push(flight);
        return new Promise((resolve) => ended.set(flight, resolve));
      },
      taken: () => {},
      sent: () => {},
    },
    {
      crashed: (error) => {
        throw error;
      },
    },
  );
  const complete = (flight: Flight): void => {
    sender.complete(flight);
    ended.get(flight)!();
  };
  return { sender, flights, complete };
}

test('it takes as much from the backlog as the limit allows, in full batches', async () => {
  const { sender, flights, complete } = busySender();
  sender.wake();
  await settled();
  expect(flights.map(({ tasks }) => tasks.length)).toEqual([ROWS, ROWS, ROWS]);
  complete(flights[0]!);
  await settled();
  expect(flights).toHaveLength(4);
});

test('batches of its own queue do not wait to fill up, whatever the backlog', async () => {
  const { sender, flights, complete } = busySender();
  sender.wake();
  await settled();
  const few = textTask();
  sender.enqueue(few);
  await settled();
  expect(flights).toHaveLength(3);
  complete(flights[0]!);
  await settled();
  expect(flights[3]!.tasks).toEqual([few]);
});
