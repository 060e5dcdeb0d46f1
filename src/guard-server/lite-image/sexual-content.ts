import { createHash } from 'node:crypto';

/** The classes of the image network, in the order of its outputs. */
const IMAGE_CLASSES = ['Drawing', 'Hentai', 'Neutral', 'Porn', 'Sexy'] as const;

type ImageClass = (typeof IMAGE_CLASSES)[number];

/**
 * The chance that an image of a class belongs to the category Sexual Content, and the probability from which it is
 * flagged. The network's authors describe the class Sexy as sexually explicit but not pornography: it counts half, so
 * with any doubt it stays below the threshold unless one of the other two classes adds to it. These numbers have not
 * been fitted.
 */
const RULES = {
  share: { Drawing: 0, Hentai: 1, Neutral: 0, Porn: 1, Sexy: 0.5 } satisfies Record<ImageClass, number>,
  flagFrom: 0.5,
} as const;

/** SHA-256 in hex, by artifact name. */
export function hashImageRules(): Readonly<Record<string, string>> {
  const rules = JSON.stringify(RULES);
  return { 'lite-image-rules': createHash('sha256').update(rules).digest('hex') };
}

export interface SexualContent {
  /** Probability in single precision, 0 … 1. */
  readonly probability: number;
  readonly flagged: boolean;
}

/** Score for Sexual Content from the class probabilities, in their order and summing to 1. */
export function sexualContent(classes: ArrayLike<number>): SexualContent {
  let sum = 0;
  for (const [index, name] of IMAGE_CLASSES.entries()) sum += RULES.share[name] * classes[index]!;
  const probability = Math.fround(Math.min(1, sum));
  return { probability, flagged: probability >= RULES.flagFrom };
}
