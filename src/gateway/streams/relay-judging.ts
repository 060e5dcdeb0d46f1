import type { GuardPool } from '../../guard/pool/pool.ts';
import type { DueText } from '../../http/streams/due-text.ts';
import type { JudgeEvents, NotReady, PrefixJudge, StreamJudging } from '../../http/streams/prefix-judge.ts';
import type { StreamSettings } from '../../http/streams/stream-settings.ts';
import type { GuardWatch } from '../guard-watch.ts';
import { notReadyOf } from './relay-fault.ts';
import { RelayedStream } from './relayed-stream.ts';

/** Has the streams of the gateway judged by guards: each stream is relayed to one of its own. */
export class RelayJudging implements StreamJudging {
  readonly #pool: GuardPool;
  readonly #guardWatch: GuardWatch;

  constructor(pool: GuardPool, guardWatch: GuardWatch) {
    this.#pool = pool;
    this.#guardWatch = guardWatch;
  }

  notReady(): NotReady | null {
    const { refusal } = this.#guardWatch;
    return refusal === null ? null : notReadyOf(refusal);
  }

  /** The guard knows how long a prompt may be. */
  faultOfPrompt(): null {
    return null;
  }

  judge(settings: StreamSettings, due: DueText, events: JudgeEvents): PrefixJudge {
    return new RelayedStream(this.#pool, settings, due, events);
  }
}
