import type { ShardCounts } from '../record/shard-tally.ts';
import type { RunControl } from './control/run-control.ts';
import type { RunProgress, RunView, StageCounts } from './progress.ts';

/** A pass that this process judges. */
interface LivePass {
  readonly progress: RunProgress;
  readonly stages: StageCounts;
  /** Its committed counts. */
  readonly counts: () => ShardCounts;
}

/** Progress of a run that this process judges, and what it waits for. */
export class LiveView {
  readonly #say: (line: string) => void;
  #pass: LivePass | null = null;
  #control: Pick<RunControl, 'paused'> | null = null;
  #isDiskFull = false;
  #isFinishing = false;

  /** `say` takes one line of text. */
  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  /** Passes a line on, and notes whether it is about a full disk. */
  readonly report = (line: string, full: boolean): void => {
    this.#isDiskFull = full;
    this.#say(line);
  };

  /** Begins a pass. */
  begin(pass: LivePass): void {
    this.#pass = pass;
  }

  /** Sets the control that can pause the pass; null when it no longer can. */
  controlledBy(control: Pick<RunControl, 'paused'> | null): void {
    this.#control = control;
  }

  /** Called when everything is committed and the final files are written next. */
  finishing(): void {
    this.#isFinishing = true;
  }

  /** Must not be called before the first pass begins. */
  readonly read = (): RunView => {
    const { progress, stages, counts } = this.#pass!;
    return progress.view(counts(), stages, this.#note());
  };

  #note(): string | null {
    if (this.#isDiskFull) return 'waiting for disk space';
    if (this.#isFinishing) return 'writing the final files';
    return this.#control?.paused === true ? 'paused' : null;
  }
}
