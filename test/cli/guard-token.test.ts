import { describe, expect, it } from 'vitest';
import { guardToken } from '../../src/cli/guard-token.ts';
import { typed } from './terminal.ts';

const tokenFor = (env: NodeJS.ProcessEnv, address: string): string | null =>
  guardToken(env)({ name: address, address });

describe('the token of a guard', () => {
  const env = { GUARD_TOKEN: 'for-all', GUARD_TOKEN__GPU_1_EXAMPLE: 'for-one' };

  it('goes over TLS, and to this machine', () => {
    for (const address of [
      'grpcs://gpu-2:8001',
      'grpc://127.0.0.1:8001',
      'grpc://localhost',
      'grpc://[::1]',
    ]) {
      expect(tokenFor(env, address)).toBe('for-all');
    }
  });

  it('never goes to another host as plain text', () => {
    expect(() => tokenFor(env, 'grpc://gpu-2:8001')).toThrow(
      expect.objectContaining({
        kind: 'usage',
        message:
          'guard grpc://gpu-2:8001: GUARD_TOKEN is not sent to another host without TLS; ' +
          'name it as grpcs://gpu-2:8001, or unset GUARD_TOKEN',
      }),
    );
    expect(() => tokenFor(env, 'grpc://gpu-1.example:8001')).toThrow(/unset GUARD_TOKEN__GPU_1_EXAMPLE$/);
    expect(() => tokenFor(env, 'grpc://127.0.0.1.example:8001')).toThrow();
  });

  it('is the one of its host where there is one; an empty one is none', () => {
    expect(tokenFor(env, 'grpcs://gpu-1.example:8001')).toBe('for-one');
    expect(tokenFor({ GUARD_TOKEN: 'x', GUARD_TOKEN__GPU_3: '' }, 'grpc://gpu-3:8001')).toBeNull();
    expect(tokenFor({ GUARD_TOKEN____1: 'v6' }, 'grpc://[::1]:8001')).toBe('v6');
    expect(tokenFor({ GUARD_TOKEN: '' }, 'grpc://gpu-3:8001')).toBeNull();
  });

  it('is none for the embedded guard', () => {
    expect(guardToken(env)({ name: 'embedded:', address: 'grpc://127.0.0.1:4711' })).toBeNull();
  });

  it('ends a command that would send it as plain text with status 2', async () => {
    const { status, stderr } = await typed(['fingerprint', '--guard', 'grpc://gpu-2.invalid:8001'], {
      context: { env: { GUARD_TOKEN: 'secret' } },
    });
    expect(status).toBe(2);
    expect(stderr).toContain('grpcs://gpu-2.invalid:8001');
    expect(stderr).not.toContain('secret');
  });
});
