import { setTimeout as delay } from 'node:timers/promises';
import { CANCELLED, hasMarker, RunCancelled } from './control-files.ts';

const LOOK_EVERY_MS = 500;

/** Watches the marker files of a run while this process judges it. */
export class RunControl {
  readonly #runDir: string;
  readonly #say: (message: string) => void;
  readonly #cancelled = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #paused = false;

  private constructor(runDir: string, say: (message: string) => void) {
    this.#runDir = runDir;
    this.#say = say;
    this.#timer = setInterval(() => void this.#look(), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  /** Checks the markers once before it resolves, then every 500 ms. */
  static async open(runDir: string, say: (message: string) => void): Promise<RunControl> {
    const control = new RunControl(runDir, say);
    await control.#look();
    return control;
  }

  /** Aborts with Failure('interrupted') when the run is cancelled. */
  get cancelled(): AbortSignal {
    return this.#cancelled.signal;
  }

  get paused(): boolean {
    return this.#paused;
  }

  /** Resolves while the run is not paused. */
  async whenRunning(signal: AbortSignal): Promise<void> {
    while (this.#paused) await delay(LOOK_EVERY_MS, undefined, { signal });
  }

  /** Idempotent. */
  close(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    try {
      if (!this.cancelled.aborted && (await hasMarker(this.#runDir, 'cancelled'))) {
        this.#say(CANCELLED);
        this.#cancelled.abort(new RunCancelled());
      }
      const paused = await hasMarker(this.#runDir, 'paused');
      if (paused !== this.#paused) this.#say(paused ? 'the run is paused' : 'the run continues');
      this.#paused = paused;
    } catch {
      // While the folder cannot be read, the last known state is kept.
    }
  }
}
