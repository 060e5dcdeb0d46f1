import pLimit from 'p-limit';
import type { CanaryAnswer, CanaryCheck, Expected } from '../../domain/canary/canary-check.ts';
import { Failure } from '../../domain/failure.ts';
import type { Modality } from '../../domain/request.ts';
import type { ModelCheck } from '../../guard/endpoint/model-check.ts';
import { CallError } from '../../guard/protocol/call-error.ts';
import type { CallOptions, CheckedGuard } from '../../guard/protocol/connection.ts';
import { NotUsable, notUsable } from '../../guard/protocol/not-usable.ts';
import { askCanary } from './ask.ts';
import type { CanarySet } from './canary-set.ts';

/** Canaries sent to one guard at a time. */
const AT_A_TIME = 4;

/** Sends guards content with known verdicts, before they judge other content and repeatedly while they do. */
export class Canaries implements ModelCheck {
  readonly checks: CanaryCheck[] = [];
  readonly #set: CanarySet;

  constructor(set: CanarySet) {
    this.#set = set;
  }

  /**
   * See `ModelCheck.check`. A modality without canaries passes. Failure('service') when the answers show that the guard
   * cannot be trusted.
   */
  async check(
    guard: CheckedGuard,
    { endpoint, modality }: { readonly endpoint: string; readonly modality: Modality },
    options: CallOptions,
  ): Promise<string | null> {
    const before = await fingerprintOf(guard, options);
    const wanted = this.#set.canaries.filter(({ request }) => request.modality === modality);
    if (wanted.length === 0) return before;
    const { file } = this.#set;
    const limit = pLimit(AT_A_TIME);
    const answers = await Promise.all(wanted.map((canary) => limit(() => askCanary(guard, canary, options))));
    const fingerprint = await fingerprintOf(guard, options);
    if (fingerprint !== before) throw new NotUsable('model changed', false);
    const wrong = file === null ? faultOfBuiltIn(answers) : faultOfOwn(answers);
    if (wrong !== null) {
      throw new Failure(
        'service',
        `guard ${endpoint} failed the ${modality} canaries (${file === null ? 'built in' : 'of --canaries'}): ${wrong}; its verdicts cannot be trusted`,
      );
    }
    this.#keep({ endpoint, fingerprint, modality, file, at: new Date().toISOString(), answers });
    return fingerprint;
  }

  /** Replaces the earlier check of the same model, so a worker that runs for weeks keeps a bounded number. */
  #keep(check: CanaryCheck): void {
    const { endpoint, fingerprint, modality } = check;
    const earlier = this.checks.findIndex(
      (other) =>
        other.endpoint === endpoint && other.fingerprint === fingerprint && other.modality === modality,
    );
    if (earlier !== -1) this.checks.splice(earlier, 1);
    this.checks.push(check);
  }
}

/** Id of the fingerprint that a guard currently reports; null when it reports none. */
async function fingerprintOf({ version }: CheckedGuard, options: CallOptions): Promise<string | null> {
  try {
    return version === null ? null : (await version.read(options)).fingerprint.id;
  } catch (error) {
    throw error instanceof CallError ? notUsable(error, options) : error;
  }
}

/** Max canaries named in one message. */
const MAX_NAMED = 5;

/** The fault in the answers to a user's own canaries, all of which must be as expected; null if there is none. */
function faultOfOwn(answers: readonly CanaryAnswer[]): string | null {
  const misses = answers.filter(({ passed }) => passed === false);
  if (misses.length === 0) return null;
  return `it got ${misses.length} of ${answers.length} wrong: ${listAnswers(misses)}`;
}

/**
 * The fault in the answers to the built-in canaries of one modality; null if there is none. A guard may disagree with
 * some of them, but one that passes everything or flags everything judges nothing. Refusals count neither way: a guard
 * that refuses everything lets nothing pass either.
 */
function faultOfBuiltIn(answers: readonly CanaryAnswer[]): string | null {
  const judged = (expected: Expected): readonly CanaryAnswer[] =>
    answers.filter((answer) => answer.expected === expected && answer.flagged !== null);
  const [violating, harmless] = [judged('flagged'), judged('allowed')];
  if (violating.length > 0 && violating.every(({ flagged }) => flagged === false)) {
    return `it flagged none of ${violating.length} violating contents: ${listAnswers(violating)}`;
  }
  if (harmless.length > 0 && harmless.every(({ flagged }) => flagged === true)) {
    return `it flagged all of ${harmless.length} harmless contents: ${listAnswers(harmless)}`;
  }
  return null;
}

function listAnswers(answers: readonly CanaryAnswer[]): string {
  const some = answers.slice(0, MAX_NAMED).map(describe);
  const more = answers.length - some.length;
  return [...some, ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
}

function describe({ name, expected, score, flagged, error }: CanaryAnswer): string {
  if (flagged === null) return `${name} (${error}, expected ${expected})`;
  const found = flagged ? 'flagged' : 'allowed';
  const also = found === expected ? ' in another category or with another score' : `, expected ${expected}`;
  return `${name} (${found}${also}, score ${score!.toPrecision(3)})`;
}
