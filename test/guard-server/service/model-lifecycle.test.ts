import { beforeEach, describe, expect, it } from 'vitest';
import { Failure } from '../../../src/domain/failure.ts';
import { SessionCache } from '../../../src/guard-server/contract/session-cache.ts';
import { ModelLifecycle, type LoadedModel } from '../../../src/guard-server/service/model-lifecycle.ts';

/** A promise and what settles it. */
function deferred(): { promise: Promise<void>; resolve: () => void; reject: (error: Error) => void } {
  let resolve!: () => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<void>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

let loading = deferred();
let draining = deferred();
let loads = 0;
let closes = 0;
let lifecycle: ModelLifecycle;

beforeEach(() => {
  [loading, draining] = [deferred(), deferred()];
  [loads, closes] = [0, 0];
  const loaded: LoadedModel = {
    model: { version: '1', cacheTotals: new SessionCache().totals, execute: () => Promise.resolve([]) },
    batcher: { waiting: 0, submit: () => () => {}, drained: () => draining.promise },
    close: () => Promise.resolve(void closes++),
  };
  lifecycle = new ModelLifecycle({
    version: '1',
    load: async () => {
      loads++;
      await loading.promise;
      return loaded;
    },
  });
});

async function ready(): Promise<void> {
  loading.resolve();
  await lifecycle.load();
}

const refusal = (version: string): unknown => {
  try {
    return lifecycle.find('guard', version);
  } catch (error) {
    return error;
  }
};

describe('loading', () => {
  it('is shared by all who ask for it', async () => {
    const both = [lifecycle.load(), lifecycle.load()];
    expect(lifecycle.state.name).toBe('LOADING');
    expect(lifecycle.isSettled()).toBe(false);
    for (const version of ['', '1']) expect(refusal(version)).toMatchObject({ code: 'UNAVAILABLE' });
    loading.resolve();
    await Promise.all(both);
    await lifecycle.load();
    expect(loads).toBe(1);
    expect(lifecycle.state.name).toBe('READY');
    expect(lifecycle.isReady('guard', '1')).toBe(true);
    expect(lifecycle.isReady('guard', '2')).toBe(false);
  });

  it('that fails says why, to all who asked, and may be tried again', async () => {
    const both = Promise.allSettled([lifecycle.load(), lifecycle.load()]);
    loading.reject(new Failure('internal', 'the weights cannot be read'));
    for (const { status } of await both) expect(status).toBe('rejected');
    expect(lifecycle.state).toEqual({ name: 'UNAVAILABLE', reason: 'the weights cannot be read' });
    expect(lifecycle.isSettled()).toBe(false);
    loading = deferred();
    await ready();
    expect(loads).toBe(2);
  });
});

describe('unloading', () => {
  it('is finished before the model is loaded again', async () => {
    await ready();
    const [unloaded, loaded] = [lifecycle.unload(), lifecycle.load()];
    draining.resolve();
    await unloaded;
    await loaded;
    expect([loads, closes]).toEqual([2, 1]);
    expect(lifecycle.state.name).toBe('READY');
  });
});
