import type { Run } from '../../runs/create-run.ts';
import type { RunView } from '../../runs/progress.ts';
import { noStreamsLine, type RunEvent, unheardLine } from '../../runs/run-events.ts';
import type { FeedUi } from '../context.ts';
import { doneItems, type ProgressSnapshot } from '../progress/progress-lines.ts';
import { type Progress, startProgress } from '../progress/progress.ts';
import { formatCliCommand } from '../../domain/text/escape-text.ts';
import { resumeCommand, toTypedPath } from './resume-command.ts';
import { tell } from './run-report.ts';

/** Shows the messages of a run on stderr, and its progress once judging has begun. */
export class RunDisplay {
  readonly #ui: FeedUi;
  #run: Run | null = null;
  #progress: Progress | null = null;
  #isGuardReady = true;
  #lastNote: string | null = null;

  constructor(ui: FeedUi) {
    this.#ui = ui;
  }

  /** The current run; null before there is one. */
  get run(): Run | null {
    return this.#run;
  }

  /** Ends the progress display. */
  stop(): void {
    this.#progress?.stop();
  }

  readonly report = (event: RunEvent): void => {
    switch (event.kind) {
      case 'unfinished':
        return this.#say(
          event.isRunning
            ? `another run of these sources is running: ${formatCliCommand('status', [toTypedPath(event.dir, this.#ui)], this.#ui.env)}`
            : `an earlier run of these sources is not finished; to finish it: ${resumeCommand(event.dir, this.#ui)}`,
        );
      case 'fleet':
        return this.#say(`using the worker fleet on Redis at ${event.redis.shown} (${event.redis.place})`);
      case 'created':
        return this.#say(`run directory ${event.run.dir}`);
      case 'begun':
        this.#run = event.run;
        if (this.#ui.fleet === null) this.#announceInterrupts();
        return;
      case 'judging':
        this.#progress = startProgress(this.#ui, () => this.#snapshot(event.view()));
        return;
      case 'guard-out':
        return this.#say(`${event.guard} is not ready (${event.reason}); the run continues with the others`);
      case 'guards':
        this.#isGuardReady = event.ready;
        return this.#say(event.ready ? 'a guard is ready again' : 'no guard is ready; waiting');
      case 'unheard-clips':
        return this.#say(unheardLine(event.unheard));
      case 'no-streams':
        return this.#say(noStreamsLine(event.guards));
      case 'notice':
        return this.#say(event.line);
    }
  };

  #say(line: string): void {
    if (this.#progress === null) tell(this.#ui, line);
    else this.#progress.say(`guardsweep: ${line}`);
  }

  #announceInterrupts(): void {
    const { drain, stop } = this.#ui.interrupts;
    drain.addEventListener('abort', () =>
      this.#say('finishing what is in flight, at most 10 s; again to stop at once'),
    );
    stop.addEventListener('abort', () => this.#say('stopping'));
  }

  #snapshot({ readShare, note, ...view }: RunView): ProgressSnapshot {
    // In this process, each cause of a delay is reported where it occurs.
    if (this.#ui.fleet !== null && note !== null && note !== this.#lastNote) this.#say(note);
    this.#lastNote = note;
    return {
      ...view,
      // Assumes that the share of read items that is judged is also the share of read bytes that is judged.
      fraction: view.planned === 0 ? null : (readShare * doneItems(view)) / view.planned,
      note: note ?? (this.#isGuardReady ? null : 'waiting for a guard'),
    };
  }
}
