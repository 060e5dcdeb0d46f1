import { describe, expect, it } from 'vitest';
import { guardToken } from '../../src/guard-setup/guard-token.ts';

const tokenFor = (env: NodeJS.ProcessEnv, address: string): string | null =>
  guardToken(env, [address])({ name: address, address });

describe('the token of a guard', () => {
  const env = { GUARD_TOKEN: 'for-all', GUARD_TOKEN__GPU_1_EXAMPLE: 'for-one' };

  it('goes over TLS, and to this machine', () => {
    const own = ['grpc://127.0.0.1:8001', 'grpc://localhost', 'grpc://[::1]', 'kserve+http://127.0.0.1:8000'];
    for (const address of ['grpcs://gpu-2:8001', 'kserve+https://gpu-2/base', ...own]) {
      expect(tokenFor(env, address)).toBe('for-all');
    }
  });

  it('never goes to another host as plain text', () => {
    expect(() => tokenFor(env, 'grpc://gpu-2:8001')).toThrow(
      /GUARD_TOKEN is not sent to another host without TLS; name it as grpcs:\/\/gpu-2:8001/,
    );
    expect(() => tokenFor(env, 'kserve+http://gpu-2:8000')).toThrow(/name it as kserve\+https/);
    expect(() => tokenFor(env, 'grpc://gpu-1.example:8001')).toThrow(/unset GUARD_TOKEN__GPU_1_EXAMPLE$/);
    expect(() => tokenFor(env, 'grpc://127.0.0.1.example:8001')).toThrow();
  });

  it('is the one of its host where there is one; an empty one is none', () => {
    for (const scheme of ['grpcs', 'kserve+https']) {
      expect(tokenFor(env, `${scheme}://gpu-1.example:8001`)).toBe('for-one');
    }
    expect(tokenFor({ GUARD_TOKEN: 'x', GUARD_TOKEN__GPU_3: '' }, 'grpc://gpu-3:8001')).toBeNull();
  });

  it('of OpenAI goes to its own host over TLS and nowhere else, whoever names it', () => {
    const keys = { OPENAI_API_KEY: 'openai', GUARD_API_KEY: 'managed' };
    const cloud = 'openai+https://api.openai.com';
    const own = 'openai+https://gpu-1.example?model=llama-guard3';
    const of = (name: string, env: NodeJS.ProcessEnv = keys): string | null =>
      guardToken(env, [cloud, own], [own])({ name, address: name });
    expect(of(cloud)).toBe('openai');
    expect(of(own)).toBe('managed');
    expect(tokenFor({ OPENAI_API_KEY: 'openai' }, own)).toBeNull();
    expect(tokenFor({ OPENAI_API_KEY: 'openai' }, 'openai+http://api.openai.com:80')).toBeNull();
    expect(of(cloud, { ...keys, GUARD_API_KEY__API_OPENAI_COM: 'chosen' })).toBe('chosen');
  });

  it('that is for no host in particular goes only to a guard that the user named', () => {
    const keys = { GUARD_API_KEY: 'managed', GUARD_TOKEN: 'for-all', GUARD_API_KEY__OWN_EXAMPLE: 'own' };
    const of = (name: string, named: readonly string[]): string | null =>
      guardToken(keys, [name], named)({ name, address: name });
    expect(of('https://guard.example', ['https://guard.example'])).toBe('managed');
    expect(() => of('https://evil.example', ['https://guard.example'])).toThrow(
      /only the run directory names it, so GUARD_API_KEY is not sent to it.* GUARD_API_KEY__EVIL_EXAMPLE/,
    );
    expect(() => of('grpc://127.0.0.1:8001', [])).toThrow('GUARD_TOKEN is not sent');
    expect(of('https://own.example', [])).toBe('own');
    expect(of('http://gpu-1:9000', [])).toBeNull();
  });

  it('over REST is the key of the one managed endpoint, or of its own host', () => {
    const keys = { GUARD_API_KEY: 'managed', GUARD_API_KEY__GPU_1: 'own', GUARD_TOKEN: 'for-grpc' };
    expect(tokenFor(keys, 'https://guard.example/base')).toBe('managed');
    expect(tokenFor(keys, 'https://gpu-1:8443')).toBe('own');
    expect(tokenFor({ GUARD_TOKEN: 'for-grpc' }, 'https://guard.example')).toBeNull();
    expect(tokenFor({ GUARD_API_KEY: 'managed' }, 'grpcs://gpu-2:8001')).toBeNull();
  });

  it('over plain http is none, but for a key of its own on this machine', () => {
    expect(tokenFor({ GUARD_API_KEY: 'managed' }, 'http://gpu-1:9000')).toBeNull();
    expect(tokenFor({ GUARD_API_KEY: 'managed' }, 'http://127.0.0.1:9000')).toBeNull();
    expect(tokenFor({ GUARD_API_KEY__127_0_0_1: 'own' }, 'http://127.0.0.1:9000')).toBe('own');
    expect(() => tokenFor({ GUARD_API_KEY__GPU_1: 'own' }, 'http://gpu-1:9000')).toThrow(
      /GUARD_API_KEY__GPU_1 is not sent to another host without TLS/,
    );
  });

  it('never goes to a second host', () => {
    const guards = ['https://a.example', 'https://b.example', 'grpc://c:8001', 'http://d:9000'];
    const of = (env: NodeJS.ProcessEnv, name: string) => guardToken(env, guards)({ name, address: name });
    expect(() => of({ GUARD_API_KEY: 'x' }, 'https://a.example')).toThrow(
      /GUARD_API_KEY is for one host; name the key of this one GUARD_API_KEY__A_EXAMPLE/,
    );
    const two = { GUARD_API_KEY: 'for-a', GUARD_API_KEY__B_EXAMPLE: 'for-b' };
    expect(guards.slice(0, 2).map((name) => of(two, name))).toEqual(['for-a', 'for-b']);
  });

  it('that no header can hold is said at once, and not shown', () => {
    const said = 'guard https://a: GUARD_API_KEY contains characters that are not valid in a token';
    const asked = () => tokenFor({ GUARD_API_KEY: 'line\nbreak' }, 'https://a');
    expect(asked).toThrow(expect.objectContaining({ message: said }));
  });
});
