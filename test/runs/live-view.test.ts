import { expect, it } from 'vitest';
import type { GuardRequest } from '../../src/domain/request.ts';
import type { RunView } from '../../src/runs/progress.ts';
import { until } from '../helpers/run-directory.ts';
import { runOver, go, judge, rows } from './small-run.ts';

const textOf = (request: GuardRequest): string | null => ('text' in request ? request.text : null);

/** Items in the stages of a run: what was read, sent, judged and committed. */
const stagesOf = ({ planned, sent, answered, judged, errors }: RunView): (number | null)[] => [
  planned,
  sent,
  answered,
  judged + errors,
];

it('the stages of a run add up while it is judged, and all end at its items', async () => {
  const { run } = await runOver({ 'a.csv': `${rows('a', 0, 44)}broken,"row` });
  const guard = judge({ refuse: (request) => (textOf(request) === 'text 7' ? 'GUARD_REJECTED' : null) });
  let answer!: () => void;
  const asked = new Promise<void>((resolve) => (answer = resolve));
  let view!: () => RunView;
  const going = go(
    run,
    {
      ...guard,
      judge: async (requests, options) => {
        if (requests.some((request) => textOf(request) === 'text 20')) await asked;
        return guard.judge(requests, options);
      },
    },
    { watch: (read) => (view = read) },
  );
  await until(
    async () => view !== undefined && stagesOf(view()).join() === '45,45,35,35',
    'a shard that waits',
  );
  expect(view()).toMatchObject({ planClosed: true, judged: 33, errors: 2, note: null });
  answer();
  await going;
  expect(stagesOf(view())).toEqual([45, 45, 45, 45]);
  expect(view()).toMatchObject({ judged: 43, note: 'writing the final files' });
});
