import { setTimeout as delay } from 'node:timers/promises';
import type { Cli, Finished } from '../helpers/cli.ts';

interface PartOptions {
  readonly name: string;
  readonly start: () => Promise<Cli>;
  /** How long it stays away after a death, in milliseconds. */
  readonly awayMs: () => number;
  /** Whether this end was meant: nothing is started again then. */
  readonly isDone?: (finished: Finished) => boolean;
}

/** One process of the fleet, started again whenever it was killed. */
export class Part {
  readonly name: string;
  readonly #options: PartOptions;
  readonly #lives: Cli[] = [];
  #killed = false;
  #ended = false;

  constructor(options: PartOptions) {
    this.#options = options;
    this.name = options.name;
  }

  get isUp(): boolean {
    const child = this.#lives.at(-1)?.child;
    return child !== undefined && !this.#killed && child.exitCode === null && child.signalCode === null;
  }

  /** Keeps it running until `isDone` or `end`; gives how its last life ended. Rejects when it ended by itself. */
  async live(): Promise<Finished> {
    for (;;) {
      this.#killed = false;
      const cli = await this.#options.start();
      this.#lives.push(cli);
      const finished = await cli.finished();
      if (this.#ended || this.#options.isDone?.(finished) === true) return finished;
      if (finished.signal !== 'SIGKILL') {
        throw new Error(`${this.name} ended with status ${String(finished.status)}\n${finished.stderr}`);
      }
      await delay(this.#options.awayMs());
      if (this.#ended) return finished;
    }
  }

  kill(): void {
    this.#killed = true;
    this.#lives.at(-1)?.kill('SIGKILL');
  }

  end(): void {
    this.#ended = true;
    this.#lives.at(-1)?.kill('SIGKILL');
  }

  /** What its last lives said, for whoever looks for a fault. */
  said(): string {
    return this.#lives
      .map(({ stderr }, index) => `--- life ${index + 1}\n${stderr.slice(-4000)}`)
      .slice(-4)
      .join('\n');
  }
}
