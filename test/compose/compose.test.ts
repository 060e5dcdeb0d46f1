import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { MODEL_NAME } from '../../src/guard/tensors/protocol.ts';
import { composeServices, projectFile, type Service } from './compose-file.ts';

const PASSWORD = 'a1b2c3';
const KEY = 'c4'.repeat(32);
const services = composeServices({ REDIS_PASSWORD: PASSWORD, GUARDSWEEP_FLEET_KEY: KEY });
const all = Object.entries(services);
/** Those that run this project's own image. */
const ours = all.filter(([, { build }]) => build !== undefined);
const service = (name: string): Service => services[name]!;

/** The port inside the container, and the address and port of the host, of `ip:host:container`. */
function published(port: string): { ip: string; host: string; container: number } {
  const [, ip = '', host = '', container = ''] = /^(.*):(\d*):(\d+)$/.exec(port) ?? [];
  return { ip, host, container: Number(container) };
}

describe('docker-compose.yml', () => {
  it('needs a password and a fleet key', () => {
    expect(() => composeServices({ GUARDSWEEP_FLEET_KEY: KEY })).toThrow('REDIS_PASSWORD');
    expect(() => composeServices({ REDIS_PASSWORD: PASSWORD })).toThrow('GUARDSWEEP_FLEET_KEY');
  });

  it('publishes on this machine only, and Redis not at all', () => {
    for (const [name, { ports = [] }] of all) {
      for (const port of ports) expect([name, published(port).ip]).toEqual([name, '127.0.0.1']);
    }
    expect(service('redis').ports).toBeUndefined();
  });

  it('runs nothing as root, nor lets it become root', () => {
    for (const [name, { user, cap_drop: dropped, security_opt: security }] of all) {
      expect(user, name).toMatch(/^[a-z][a-z-]*$/);
      expect(user, name).not.toBe('root');
      expect(dropped, name).toEqual(['ALL']);
      expect(security, name).toContain('no-new-privileges:true');
    }
    for (const [name, { read_only: readOnly }] of [...ours, ['redis', service('redis')] as const]) {
      expect(readOnly, name).toBe(true);
    }
  });

  it('mounts folders of this machine read-only, and the heads where the feeder cannot change them', () => {
    const volumes = all.flatMap(([name, of]) => (of.volumes ?? []).map((volume) => ({ name, volume })));
    const foreign = volumes.filter(({ volume }) => /^[./]/.test(volume));
    expect(foreign.length).toBeGreaterThan(2);
    expect(foreign.filter(({ volume }) => !volume.endsWith(':ro'))).toEqual([]);
    const heads = volumes.filter(({ volume }) => volume.startsWith('heads:'));
    expect(heads).toEqual([{ name: 'sink', volume: 'heads:/data/heads' }]);
  });

  it('has Triton load the guard, and nothing else, on the ports that it publishes (C-105, C-106, C-108, C-109, C-905)', () => {
    const { command, image, profiles, ports, healthcheck, volumes, deploy } = service('triton');
    expect(profiles).toEqual(['gpu']);
    expect(deploy?.resources.reservations.devices).toEqual([
      { driver: 'nvidia', count: 'all', capabilities: ['gpu'] },
    ]);
    const [, year, month] = /^nvcr\.io\/nvidia\/tritonserver:(\d\d)\.(\d\d)-py3$/.exec(image)!;
    expect(Number(year) * 100 + Number(month)).toBeGreaterThanOrEqual(2411);
    expect(command).toContain('--model-control-mode=explicit');
    expect(command.filter((arg) => arg.startsWith('--load-model='))).toEqual([`--load-model=${MODEL_NAME}`]);
    const flag = (name: string): string =>
      command.find((arg) => arg.startsWith(`--${name}=`))!.slice(name.length + 3);
    const listens = ['http-port', 'grpc-port', 'metrics-port'].map((name) => Number(flag(name)));
    expect(listens).toEqual([8000, 8001, 8002]);
    expect(ports!.map((port) => published(port).container)).toEqual(listens);
    expect(volumes!.map((volume) => volume.split(':').slice(-2))).toEqual([[flag('model-repository'), 'ro']]);
    expect(healthcheck!.test.at(-1)).toBe(`http://127.0.0.1:${listens[0]}/v2/models/${MODEL_NAME}/ready`);
  });
});

describe('Dockerfile', () => {
  const lines = readFileSync(projectFile('Dockerfile'), 'utf8').replaceAll('\\\n', ' ').split('\n');

  it('builds on one image, pinned by its digest, and runs no script of a package', () => {
    const bases = lines.flatMap((line) => /^FROM (\S+)/.exec(line)?.[1] ?? []);
    expect(bases.filter((base) => base !== 'node')).toEqual([
      expect.stringMatching(/^node:(?:22|24)[\d.]*-bookworm-slim@sha256:[0-9a-f]{64}$/),
    ]);
    const installs = lines.filter((line) => line.includes('npm ci'));
    expect(installs).toHaveLength(2);
    for (const install of installs) expect(install).toContain('--ignore-scripts');
  });
  const last = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')));
  it('ends as an ordinary user, with the program as its entry point', () => {
    expect(last.filter((line) => line.startsWith('USER '))).toEqual(['USER node']);
    const { bin } = JSON.parse(readFileSync(projectFile('package.json'), 'utf8')) as { bin: object };
    const entry = JSON.parse(last.find((line) => line.startsWith('ENTRYPOINT '))!.slice(11)) as string[];
    expect(entry).toEqual(['node', `/app/${Object.values(bin)[0] as string}`]);
  });

  it('keeps the environment of the program from the processes that decode media', () => {
    const forbidden = last.findIndex((line) => line === 'RUN chmod 0711 /usr/local/bin/node');
    expect(forbidden).toBeGreaterThan(-1);
    expect(forbidden).toBeLessThan(last.findIndex((line) => line.startsWith('USER ')));
  });
});
