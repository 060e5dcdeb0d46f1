import { beforeEach, describe, expect, it } from 'vitest';
import { contentSha256 } from '../../../src/domain/content-hash.ts';
import { referenceMs } from '../../../src/guard-server/synthetic/service-time.ts';
import type { SyntheticControl } from '../../../src/guard-server/server.ts';
import type { TensorRequest } from '../../../src/guard-server/contract/tensor-request.ts';
import { output, promptInputs, row, type TestClient } from '../../helpers/guards/guard-client.ts';
import { guardForTest } from '../../helpers/guards/shared-guard.ts';
import { settled } from '../../helpers/settled.ts';

let client: TestClient;
let control: SyntheticControl;

beforeEach(async () => {
  const started = await guardForTest();
  client = started.client;
  control = started.server.synthetic!;
});

const judge = (...texts: string[]) => client.infer({ tensors: promptInputs(texts) });
const hashOf = (text: string): string => contentSha256({ requestType: 'prompt', modality: 'text', text });

describe('versions', () => {
  const reading = async () => {
    const reply = await client.infer({ tensors: row({ REQUEST_TYPE: 'version' }) });
    return JSON.parse(output(reply, 'VERSION')[0] as string) as object;
  };

  it('swaps its version when told to (C-903)', async () => {
    const before = control.fingerprint;
    expect(await reading()).toEqual(before.artifacts);
    const after = control.swapVersion();
    expect(after.id).not.toBe(before.id);
    expect(await reading()).toEqual(after.artifacts);
    expect(control.fingerprint).toEqual(after);
    expect((await judge('a')).model_version).toBe('2');
    expect(Object.keys(after.artifacts).every((name) => name.startsWith('synthetic-'))).toBe(true);
  });

  it('lets an execution end with the version it began with', async () => {
    control.pause();
    const reply = judge('straddler');
    await settled(() => control.counts.executions === 1);
    const before = control.fingerprint.id;
    control.swapVersion();
    control.resume();
    expect((await reply).model_version).toBe('1');
    expect(control.fingerprintsOf(hashOf('straddler'))).toEqual([before]);
  });
});

describe('service time', () => {
  const buffers = (sizes: number[]) => sizes.map((size) => Buffer.alloc(size));

  it('follows the longest row, or the size of an image or a clip between the reference figures (C-113)', () => {
    const ms = (input: string, ...sizes: number[]) => {
      const beside = ['TEXT', buffers(sizes.map(() => 4096))] as const;
      const strings = new Map([beside, [input, buffers(sizes)]]);
      return referenceMs([{ rows: sizes.length, strings } as Partial<TensorRequest> as TensorRequest]);
    };
    expect(ms('TEXT', 4)).toBeCloseTo(19);
    expect(ms('TEXT', 4, 4 * 255, 8)).toBeCloseTo(27);
    expect(ms('IMAGE', 5000)).toBe(140);
    expect(ms('IMAGE', 5999)).toBeCloseTo(170, 1);
    expect(ms('AUDIO', 5999)).toBeCloseTo(130, 1);
    expect(ms('IMAGE', 5000, 5500, 5100)).toBe(155);
  });
});
