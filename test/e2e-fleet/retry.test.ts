import { status as grpc } from '@grpc/grpc-js';
import { expect, it } from 'vitest';
import { readManifest } from '../../src/record/manifest/manifest.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { expectStatus, fleetWithComments } from '../helpers/fleet.ts';
import { outcomes } from '../helpers/run-directory.ts';
import { guard } from '../helpers/guards/guard-pool.ts';

const ROWS = 1000;
/** Rows the guard fails on at first; the second never passes. */
const [PASSING, LASTING] = ['number 77', 'number 801'];

it('what ended in an error that may pass is judged again by the fleet, and the later pass wins', async () => {
  const failing = new Set([PASSING, LASTING]);
  const server = await guard({
    script: ({ inputs }) => {
      const hit = (inputs['TEXT'] ?? []).some((text) => [...failing].some((end) => text.endsWith(end)));
      return hit ? { code: grpc.INTERNAL, details: 'out of sorts' } : undefined;
    },
  });
  const { fleet, path } = await fleetWithComments(ROWS, { guards: [server.address] });
  fleet.worker();
  fleet.sink();
  expectStatus(await fleet.enqueue(path).finished(), 5);
  const run = await fleet.run();
  const first = await outcomes(run);
  const errors = (lines: typeof first) =>
    lines.filter(({ status }) => status === 'error').map(({ id }) => id);
  const ids = ['a.csv#77', 'a.csv#801'];
  expect(errors(first)).toEqual(ids);

  failing.delete(PASSING);
  server.deploy('model-b', '2');
  const retried = await fleet.retry(run).finished();
  expectStatus(retried, 5);
  const counts = { planned: ROWS, judged: ROWS - 1, errors: 1 };
  expect(await fleet.status(run)).toMatchObject({ state: 'finished', pass: 2, ...counts });
  const second = await outcomes(run);
  expect(errors(second)).toEqual(['a.csv#801']);
  const others = (lines: typeof first) => lines.filter(({ id }) => !ids.includes(id));
  expect(others(second)).toEqual(others(first));
  expect(second[76]).toMatchObject({ id: 'a.csv#77', status: 'ok' });
  expect(second[76]!.fingerprint).not.toBe(second[75]!.fingerprint);
  expect(await readManifest(run)).toMatchObject({
    ...{ pass: 2, previous: { path: 'manifest.1.json' }, counts: { items: ROWS, errors: 1 } },
  });
  expect(await verifyRun(run, {})).toMatchObject({ ok: true });

  failing.clear();
  expectStatus(await fleet.retry(run).finished(), 0);
  const nothing = await fleet.retry(run).finished();
  expectStatus(nothing, 0);
  expect(nothing.stderr).toContain('nothing to retry');
  expect(errors(await outcomes(run))).toEqual([]);
  expect(await verifyRun(run, {})).toMatchObject({ ok: true });
});
