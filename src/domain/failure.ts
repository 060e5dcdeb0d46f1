/**
 * A failure ends a command, while an item error only ends an item. Its kind decides the exit status; `message` is one
 * line for the user and never quotes content.
 */

const EXIT_STATUS = {
  /** A bug in this program, or a record that fails verification. */
  internal: 1,
  /** Another process continues this run; this one must stop writing. */
  superseded: 1,
  /** A wrong flag, path, job file or policy; reported before anything is written. */
  usage: 2,
  /** No usable guard, or no disk space: something outside this process must be fixed. */
  service: 4,
  /** The run was purged: the data that the command needs was deleted on purpose. */
  purged: 6,
  /** Stopped on request; the run can be resumed. */
  interrupted: 130,
} as const;

export type FailureKind = keyof typeof EXIT_STATUS;

export class Failure extends Error {
  override readonly name = 'Failure';
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.kind = kind;
  }

  get exitStatus(): number {
    return EXIT_STATUS[this.kind];
  }
}
