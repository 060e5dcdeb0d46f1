import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MAX_BATCH_BYTES, WINDOW_BATCHES } from '../../../src/guard/tasks/batch-lane.ts';
import { Task } from '../../../src/guard/tasks/task.ts';
import { type Demand, TaskQueue } from '../../../src/guard/tasks/task-queue.ts';
import { prompt } from '../../helpers/guards/requests.ts';

const owner = { over: false, settle: () => null };

const textOf = (bytes: number) => new Task(owner, 0, prompt('x'.repeat(bytes)), '', null);
const demand = (maxRows: number, partial = true): Demand => ({ maxRows, partial, takes: () => true });

/** The batches of a guard that takes everything at once. */
function batchesOf(queue: TaskQueue, maxRows: number): Task[][] {
  const batches: Task[][] = [];
  for (let offer = queue.next(demand(maxRows)); offer !== null; offer = queue.next(demand(maxRows))) {
    batches.push(offer.take());
  }
  return batches;
}

test('batches hold texts of similar length', () => {
  const queue = new TaskQueue();
  for (const bytes of [70, 5, 90, 1, 80, 3, 60, 2, 4]) queue.add(textOf(bytes));
  const lengths = batchesOf(queue, 4).map((batch) => batch.map(({ bytes }) => bytes));
  expect(lengths).toEqual([[1, 2, 3, 5], [60, 70, 80, 90], [4]]);
});

test('every task leaves once, in batches within the bounds, for any demand', () => {
  const item = fc.record({ bytes: fc.integer({ min: 1, max: 400_000 }), small: fc.boolean() });
  const rowsOfGuards = fc.array(fc.integer({ min: 1, max: 16 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(fc.array(item, { maxLength: 120 }), rowsOfGuards, (items, guards) => {
      const queue = new TaskQueue();
      const tasks = items.map(({ bytes, small }) => {
        const task = textOf(bytes);
        if (small) task.maxRows = 2;
        return task;
      });
      for (const task of tasks) queue.add(task);
      const left: Task[] = [];
      for (let turn = 0; queue.size > 0; turn++) {
        const offer = queue.next(demand(guards[turn % guards.length]!))!;
        const batch = offer.take();
        expect(batch.length).toBeGreaterThan(0);
        expect(batch.length).toBeLessThanOrEqual(offer.rows);
        for (const task of batch) expect(batch.length).toBeLessThanOrEqual(task.maxRows);
        const bytes = batch.reduce((sum, task) => sum + task.bytes, 0);
        if (batch.length > 1) expect(bytes).toBeLessThanOrEqual(MAX_BATCH_BYTES);
        left.push(...batch);
      }
      expect(new Set(left)).toEqual(new Set(tasks));
      expect(left).toHaveLength(tasks.length);
    }),
  );
});

test('no task waits for more than the tasks before it and one window, whatever its length', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 0, max: 300 }),
      fc.infiniteStream(fc.integer({ min: 1, max: 50 })),
      fc.integer({ min: 0, max: 50 }),
      (maxRows, before, others, bytes) => {
        const queue = new TaskQueue();
        const other = (): void => queue.add(textOf(others.next().value as number));
        for (let index = 0; index < before; index++) other();
        const patient = textOf(bytes + 1);
        queue.add(patient);
        const most = before + WINDOW_BATCHES * maxRows;
        // As many come as leave, so that the queue never runs dry.
        for (let left = 0; left <= most;) {
          for (let index = 0; index < maxRows; index++) other();
          const batch = queue.next(demand(maxRows))!.take();
          if (batch.includes(patient)) return;
          left += batch.length;
        }
        throw new Error(`still waiting after ${most} others`);
      },
    ),
  );
});

test('a batch that is not full waits while the guard has enough to do', () => {
  const queue = new TaskQueue();
  for (let index = 0; index < 7; index++) queue.add(textOf(index + 1));
  expect(queue.next(demand(8, false))).toBeNull();
  expect(queue.next(demand(8, true))?.take()).toHaveLength(7);
});
