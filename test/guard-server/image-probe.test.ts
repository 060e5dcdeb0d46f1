import sharp from 'sharp';
import { expect, it, vi } from 'vitest';
import { ImageProbe } from '../../src/guard-server/lite-image/image-probe.ts';
import { ImageNetwork } from '../../src/guard-server/lite-image/network.ts';

it('loads nothing before the first image, and tries again where that failed', async () => {
  const load = vi.spyOn(ImageNetwork, 'load');
  load.mockRejectedValueOnce(new Error('no WebAssembly backend'));
  const probe = await ImageProbe.open();
  expect(load).not.toHaveBeenCalled();

  const image = await sharp({ create: { width: 8, height: 8, channels: 3, background: 'navy' } })
    .png()
    .toBuffer();
  expect(await probe.judge(image)).toMatchObject({ refusal: 'PROBE_NOT_LOADED' });
  expect(await probe.judge(image)).toMatchObject({ probability: expect.any(Number) as number });
  await probe.judge(image);
  expect(load).toHaveBeenCalledTimes(2);
});
