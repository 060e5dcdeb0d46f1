import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { Registry } from 'prom-client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { buildProgram } from '../../src/cli/program.ts';
import { parseGuardUrls } from '../../src/config/values/guard-url.ts';
import { parseRedisUrl } from '../../src/config/values/redis-url.ts';
import { MODEL_NAME } from '../../src/guard/tensors/protocol.ts';
import { checkServer } from '../../src/queue/redis/check-server.ts';
import { serveMetrics } from '../../src/http/metrics-server.ts';
import { output, runsWith, typed } from '../cli/terminal.ts';
import { temporaryFolder } from '../helpers/cli.ts';
import { freePort } from '../helpers/free-port.ts';
import { redisForTest } from '../helpers/redis/redis.ts';
import { composeServices, projectFile, type Service } from './compose-file.ts';

const PASSWORD = 'a1b2c3';
const KEY = 'c4'.repeat(32);
const services = composeServices({ REDIS_PASSWORD: PASSWORD, GUARDSWEEP_FLEET_KEY: KEY });
const all = Object.entries(services);
/** Those that run this project's own image. */
const ours = all.filter(([, { build }]) => build !== undefined);
const service = (name: string): Service => services[name]!;

function program(): Command {
  const never = new AbortController().signal;
  const context = {
    cwd: '/data',
    env: {},
    stdout: output(),
    stderr: output(),
    interrupts: { drain: never, stop: never },
  };
  return buildProgram(
    context,
    async () => runsWith({}),
    () => {},
  );
}

/** A command line as the program's own definition reads it. Throws for what it does not know. */
function read(line: readonly string[]): { options: Record<string, unknown>; operands: string[] } {
  const [name, ...rest] = line;
  const command = program().commands.find((candidate) => candidate.name() === name);
  if (command === undefined) throw new Error(`no such command: ${String(name)}`);
  const { operands, unknown } = command.parseOptions([...rest]);
  if (unknown.length > 0) throw new Error(`${name}: no such flag: ${unknown.join(' ')}`);
  const most = command.registeredArguments.some(({ variadic }) => variadic)
    ? Infinity
    : command.registeredArguments.length;
  const least = command.registeredArguments.filter(({ required }) => required).length;
  if (operands.length < least || operands.length > most) throw new Error(`${name}: wrong arguments`);
  return { options: command.opts(), operands };
}

/** The port inside the container, and the address and port of the host, of `ip:host:container`. */
function published(port: string): { ip: string; host: string; container: number } {
  const [, ip = '', host = '', container = ''] = /^(.*):(\d*):(\d+)$/.exec(port) ?? [];
  return { ip, host, container: Number(container) };
}

describe('docker-compose.yml', () => {
  it.each(ours)('%s runs a command that the program has, with flags that it has', (_, { command }) => {
    expect(() => read(command)).not.toThrow();
  });

  it('is used by the documentation with commands and flags that the program has', () => {
    const docs = readFileSync(projectFile('docs/fleet.md'), 'utf8');
    const typedIn = (start: string): string[] =>
      docs
        .split('\n')
        .filter((line) => line.includes(start))
        .map((line) =>
          line
            .slice(line.indexOf(start) + start.length)
            .split(/ #|`/)[0]!
            .trim(),
        );
    // Without a command of its own the feeder runs the one of the file.
    const inCompose = typedIn('docker compose run --rm feeder ').filter((line) => line !== '');
    const onMachines = typedIn('npm run ').map((line) => line.replace(' -- ', ' '));
    expect(inCompose.length).toBeGreaterThanOrEqual(3);
    expect(onMachines.length).toBeGreaterThanOrEqual(4);
    for (const line of [...inCompose, ...onMachines])
      expect(() => read(line.split(/ +/)), line).not.toThrow();
  });

  it('needs a password and a fleet key', () => {
    expect(() => composeServices({ GUARDSWEEP_FLEET_KEY: KEY })).toThrow('REDIS_PASSWORD');
    expect(() => composeServices({ REDIS_PASSWORD: PASSWORD })).toThrow('GUARDSWEEP_FLEET_KEY');
  });

  it('publishes on this machine only, and Redis not at all', () => {
    for (const [name, { ports = [] }] of all) {
      for (const port of ports) expect([name, published(port).ip]).toEqual([name, '127.0.0.1']);
    }
    expect(service('redis').ports).toBeUndefined();
    const fixed = all.flatMap(([, { ports = [] }]) => ports.map((port) => published(port).host));
    const named = fixed.filter((port) => port !== '');
    expect(new Set(named).size).toBe(named.length);
    // Workers are many, and a port of the host belongs to one.
    expect(service('worker').ports!.map((port) => published(port).host)).toEqual(['']);
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

  it('mounts the corpus read-only, and the runs where sink and feeder look for them', () => {
    const feeder = service('feeder');
    const { options, operands } = read(feeder.command);
    const mounts = new Map(feeder.volumes!.map((volume) => [volume.split(':')[1]!, volume.split(':')]));
    for (const corpus of operands) expect(mounts.get(corpus)?.[2]).toBe('ro');
    expect(existsSync(projectFile(mounts.get(operands[0]!)![0]!))).toBe(true);
    // Media are read by the workers, which have to see the same corpus at their root.
    const roots = read(service('worker').command).options['root'];
    expect(roots).toEqual(operands);
    for (const corpus of operands) {
      expect(service('worker').volumes).toContain(mounts.get(corpus)!.join(':'));
    }
    const sink = read(service('sink').command).options;
    expect(sink['root']).toEqual([options['out']]);
    const runs = `runs:${String(options['out'])}`;
    expect(feeder.volumes).toContain(runs);
    // Heads are noted where the feeder, which can write in the runs, cannot change them.
    expect(service('sink').volumes).toEqual([runs, 'heads:/data/heads']);
    expect(sink['headFile']).toBe('/data/heads/heads.jsonl');
    expect(feeder.volumes!.filter((volume) => volume.startsWith('heads:'))).toEqual([]);
    for (const [name, { volumes = [] }] of all) {
      for (const volume of volumes) {
        if (/^[./]/.test(volume)) expect([name, volume]).toEqual([name, expect.stringMatching(/:ro$/)]);
      }
    }
  });

  it('sets only variables that the help names, to values that the program takes', async () => {
    const { stdout } = await typed(['--help']);
    const known = [...stdout.split('Environment:')[1]!.matchAll(/^ {2}([A-Z_]+)/gm)].map(([, name]) => name);
    for (const [name, { environment = {} }] of ours) {
      for (const variable of Object.keys(environment)) expect(known, name).toContain(variable);
      const redis = parseRedisUrl({ value: environment['REDIS_URL']!, place: 'REDIS_URL' }, environment);
      expect(redis, name).toMatchObject({
        at: { host: 'redis', port: 6379 },
        password: PASSWORD,
        tls: false,
      });
    }
    const guards = (value: string): string[] => parseGuardUrls([{ value, place: 'GUARD_URL' }]);
    expect(guards(service('worker').environment!['GUARD_URL']!)).toEqual(['embedded:']);
    const text = readFileSync(projectFile('docker-compose.yml'), 'utf8');
    const advised = /^# +GUARD_URL=(\S+)$/m.exec(text)![1]!;
    const grpc = /^--grpc-port=(\d+)$/m.exec(service('triton').command.join('\n'))![1]!;
    expect(guards(advised)).toEqual([`grpc://triton:${grpc}`]);
  });

  it.each(['worker', 'sink', 'scheduler'])('asks %s for its health where it serves metrics', async (name) => {
    const { command, healthcheck, ports } = service(name);
    const { options } = read(command);
    const port = Number(options['metricsPort']);
    expect(ports!.map((entry) => published(entry).container)).toEqual([port]);
    // Published ports reach a container from outside of it.
    expect(options).toMatchObject({ metricsHost: '0.0.0.0', metricsOpen: true });
    const [kind, file, ...args] = healthcheck!.test;
    expect([kind, file]).toEqual(['CMD', 'node']);
    expect(args.join(' ')).toContain(`http://127.0.0.1:${port}/readyz`);

    const server = await serveMetrics(new Registry(), { host: '127.0.0.1', port: 0, token: null });
    const here = args.map((arg) => arg.replace(`:${port}/`, `:${new URL(server.url).port}/`));
    const healthy = async (): Promise<number> =>
      (await once(spawn(process.execPath, here, { stdio: 'ignore' }), 'exit'))[0] as number;
    expect(await healthy()).toBe(0);
    await server.close();
    expect(await healthy()).toBe(1);
  });

  it('starts a Redis that a fleet takes, and that wants the password', async () => {
    // Finds the binary, or installs it.
    await redisForTest();
    const { command, environment, healthcheck } = service('redis');
    const folder = await temporaryFolder();
    const port = await freePort();
    const [shell, flags, script] = command;
    const here = script!.replace('dir /data', `dir ${folder}\nport ${port}\nbind 127.0.0.1`);
    expect(here).not.toBe(script);
    expect(service('redis')).toMatchObject({ tmpfs: ['/data'] });
    expect(service('redis').volumes).toBeUndefined();
    const env = { PATH: process.env['PATH'], ...environment };
    const server = spawn(shell!, [flags!, here], { env, stdio: 'ignore' });
    const exited = once(server, 'exit');
    onTestFinished(async () => {
      server.kill('SIGKILL');
      await exited;
    });
    const signal = AbortSignal.timeout(20_000);
    const at = (password: string) =>
      parseRedisUrl({ value: `redis://${password}127.0.0.1:${port}`, place: '--redis' }, {});
    await checkServer(at(`:${PASSWORD}@`), signal);
    await expect(checkServer(at(''), signal)).rejects.toThrow('wants a password');

    const [kind, check] = healthcheck!.test;
    expect(kind).toBe('CMD-SHELL');
    const cli = (rest: string) =>
      spawnSync('sh', ['-c', rest.replace('redis-cli', `redis-cli -p ${port}`)], { env });
    expect(cli(check!).status).toBe(0);
    expect(cli('redis-cli config get appendonly').stdout.toString()).toContain('no');
    expect(spawnSync('ps', ['-o', 'args=', '-p', String(server.pid)]).stdout.toString()).not.toContain(
      PASSWORD,
    );
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
  const copied = last
    .filter((line) => line.startsWith('COPY '))
    .flatMap((line) =>
      line
        .replace(/^COPY (--from=\S+ )?/, '')
        .split(' ')
        .slice(0, -1),
    )
    .map((path) => path.replace(/^\/build\//, ''));
  const packageJson = JSON.parse(readFileSync(projectFile('package.json'), 'utf8')) as {
    bin: Record<string, string>;
    imports: Record<string, string>;
  };

  it('ends as an ordinary user, with the program as its entry point', () => {
    expect(last.filter((line) => line.startsWith('USER '))).toEqual(['USER node']);
    const entry = JSON.parse(last.find((line) => line.startsWith('ENTRYPOINT '))!.slice(11)) as string[];
    expect(entry).toEqual(['node', `/app/${packageJson.bin['guardsweep']}`]);
  });

  it('keeps the environment of the program from the processes that decode media', () => {
    const forbidden = last.findIndex((line) => line === 'RUN chmod 0711 /usr/local/bin/node');
    expect(forbidden).toBeGreaterThan(-1);
    expect(forbidden).toBeLessThan(last.findIndex((line) => line.startsWith('USER ')));
  });

  it('copies everything that the program imports from the package', () => {
    const needed = Object.values(packageJson.imports).map((path) => path.replace(/^\.\/|\/\*$/g, ''));
    // What is built comes along with the rest of it.
    const sources = needed.filter((path) => !path.startsWith('dist/'));
    expect(copied).toEqual(expect.arrayContaining([...sources, 'dist', 'node_modules']));
  });
});
