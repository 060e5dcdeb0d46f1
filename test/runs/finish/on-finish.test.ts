import { describe, expect, it } from 'vitest';
import { runOnFinish } from '../../../src/runs/finish/on-finish.ts';

const never = new AbortController().signal;
const base = { cwd: '/', env: process.env, about: {}, input: '', signal: never };

describe('the command of --on-finish', () => {
  it('is ended when it takes too long', async () => {
    const command = [process.execPath, '-e', 'setInterval(() => {}, 1000)'];
    await expect(runOnFinish({ ...base, command, timeoutMs: 50 })).rejects.toMatchObject({
      kind: 'service',
      message: expect.stringContaining('was ended after 0.05 s') as string,
    });
  });

  it('is run without a shell', async () => {
    const told = runOnFinish({ ...base, command: ['echo ran; false'] });
    await expect(told).rejects.toMatchObject({
      message: 'echo ran; false cannot be started (ENOENT)',
    });
  });

  it('cannot fill memory with what it says', async () => {
    const command = [process.execPath, '-e', 'process.stderr.write("x".repeat(1e7), () => process.exit(7))'];
    const failure = await runOnFinish({ ...base, command }).then(
      () => null,
      (error: Error) => error,
    );
    expect(failure?.message).toContain('ended with status 7');
    expect((failure?.cause as string).length).toBe(4096);
  });
});
