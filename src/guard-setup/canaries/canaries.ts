import pLimit from 'p-limit';
import type { CanaryAnswer, CanaryCheck, Expected } from '../../domain/canary/canary-check.ts';
import { Failure } from '../../domain/failure.ts';
import type { Modality } from '../../domain/request.ts';
import type { ModelCheck } from '../../guard/endpoint/model-check.ts';
import { CallError } from '../../guard/protocol/call-error.ts';
import type { CallOptions, CheckedGuard } from '../../guard/protocol/connection.ts';
import { NotUsable, notUsable } from '../../guard/protocol/not-usable.ts';
import { askCanary } from './ask.ts';
import type { Canary } from './canary-set.ts';

/** Canaries asked for at a time, of one guard. */
const AT_A_TIME = 4;

/** Asks guards for contents whose verdicts are known, before they judge others. */
export class Canaries implements ModelCheck {
  readonly checks: CanaryCheck[] = [];
  readonly #canaries: readonly Canary[];

  /** `canaries`: some of each modality. */
  constructor(canaries: readonly Canary[]) {
    this.#canaries = canaries;
  }

  /** See `ModelCheck.check`. Failure('service') when the answers show that the guard cannot be trusted. */
  async check(
    guard: CheckedGuard,
    { endpoint, modality }: { readonly endpoint: string; readonly modality: Modality },
    options: CallOptions,
  ): Promise<string | null> {
    const before = await fingerprintOf(guard, options);
    const wanted = this.#canaries.filter(({ request }) => request.modality === modality);
    const { file } = wanted[0]!;
    const limit = pLimit(AT_A_TIME);
    const answers = await Promise.all(wanted.map((canary) => limit(() => askCanary(guard, canary, options))));
    const fingerprint = await fingerprintOf(guard, options);
    if (fingerprint !== before) throw new NotUsable('model changed', false);
    const wrong = file === null ? indifferent(answers) : missed(answers);
    if (wrong !== null) {
      throw new Failure(
        'service',
        `guard ${endpoint} failed the ${modality} canaries (${file === null ? 'built in' : 'of --canaries'}): ${wrong}; its verdicts cannot be trusted`,
      );
    }
    this.checks.push({ endpoint, fingerprint, modality, file, at: new Date().toISOString(), answers });
    return fingerprint;
  }
}

/** Id of the fingerprint that a guard reports now; null when it reports none. */
async function fingerprintOf({ version }: CheckedGuard, options: CallOptions): Promise<string | null> {
  try {
    return version === null ? null : (await version.read(options)).fingerprint.id;
  } catch (error) {
    throw error instanceof CallError ? notUsable(error, options) : error;
  }
}

/** Named in one message. */
const MAX_NAMED = 5;

/**
 * What is wrong with the answers to a user's own canaries, each of which must be as expected; null: nothing.
 */
function missed(answers: readonly CanaryAnswer[]): string | null {
  const misses = answers.filter(({ passed }) => passed === false);
  if (misses.length === 0) return null;
  return `it got ${misses.length} of ${answers.length} wrong: ${named(misses)}`;
}

/**
 * What is wrong with the answers to the built-in canaries of one modality; null: nothing. No guard need agree with each of
 * them, but one that passes everything or flags everything judges nothing. Refusals count neither way: a guard that
 * refuses everything lets nothing pass either.
 */
function indifferent(answers: readonly CanaryAnswer[]): string | null {
  const judged = (expected: Expected): readonly CanaryAnswer[] =>
    answers.filter((answer) => answer.expected === expected && answer.flagged !== null);
  const [violating, harmless] = [judged('flagged'), judged('allowed')];
  if (violating.length > 0 && violating.every(({ flagged }) => flagged === false)) {
    return `it flagged none of ${violating.length} violating contents: ${named(violating)}`;
  }
  if (harmless.length > 0 && harmless.every(({ flagged }) => flagged === true)) {
    return `it flagged all of ${harmless.length} harmless contents: ${named(harmless)}`;
  }
  return null;
}

function named(answers: readonly CanaryAnswer[]): string {
  const some = answers.slice(0, MAX_NAMED).map(told);
  const more = answers.length - some.length;
  return [...some, ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
}

function told({ name, expected, score, flagged, error }: CanaryAnswer): string {
  if (flagged === null) return `${name} (${error}, expected ${expected})`;
  const found = flagged ? 'flagged' : 'allowed';
  const also = found === expected ? ' in another category or with another score' : `, expected ${expected}`;
  return `${name} (${found}${also}, score ${score!.toPrecision(3)})`;
}
