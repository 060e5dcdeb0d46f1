/** How a logit becomes a probability: logistic(slope × logit + offset). */
interface Calibration {
  readonly slope: number;
  readonly offset: number;
}

/** Newton's method converges on this convex loss long before. */
const ITERATIONS = 50;

/** Step halvings without improvement after which the minimum is reached. */
const HALVINGS = 30;

/** Keeps the Hessian invertible. */
const RIDGE = 1e-6;

/** ln(1 + e^x) without overflow. */
function softplus(x: number): number {
  return Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
}

function loss(at: Calibration, logits: readonly number[], targets: readonly number[]): number {
  let sum = 0;
  for (let index = 0; index < logits.length; index++) {
    const x = at.slope * logits[index]! + at.offset;
    sum += softplus(x) - targets[index]! * x;
  }
  return sum;
}

/** The full Newton step from a point. */
function newtonStep(at: Calibration, logits: readonly number[], targets: readonly number[]): Calibration {
  let [bySlope, byOffset, slopeSlope, slopeOffset, offsetOffset] = [0, 0, RIDGE, 0, RIDGE];
  for (let index = 0; index < logits.length; index++) {
    const logit = logits[index]!;
    const probability = 1 / (1 + Math.exp(-(at.slope * logit + at.offset)));
    const error = probability - targets[index]!;
    const curvature = probability * (1 - probability);
    bySlope += error * logit;
    byOffset += error;
    slopeSlope += curvature * logit * logit;
    slopeOffset += curvature * logit;
    offsetOffset += curvature;
  }
  const determinant = slopeSlope * offsetOffset - slopeOffset * slopeOffset;
  return {
    slope: -(offsetOffset * bySlope - slopeOffset * byOffset) / determinant,
    offset: -(slopeSlope * byOffset - slopeOffset * bySlope) / determinant,
  };
}

/**
 * Fits slope and offset to logits of held-out texts and their labels (0 or 1) by maximum likelihood with Platt's
 * smoothed targets (Platt 1999). A Newton step that overshoots is halved until the loss falls (Lin, Lin, Weng 2007).
 */
export function calibrate(logits: readonly number[], labels: readonly number[]): Calibration {
  const positives = labels.reduce((sum, label) => sum + label, 0);
  const high = (positives + 1) / (positives + 2);
  const low = 1 / (labels.length - positives + 2);
  const targets = labels.map((label) => (label === 1 ? high : low));
  let best: Calibration = { slope: 0, offset: Math.log((positives + 1) / (labels.length - positives + 1)) };
  let lowest = loss(best, logits, targets);
  for (let iteration = 0; iteration < ITERATIONS; iteration++) {
    const step = newtonStep(best, logits, targets);
    let share = 1;
    let halvings = 0;
    for (; halvings < HALVINGS; halvings++, share /= 2) {
      const candidate = { slope: best.slope + share * step.slope, offset: best.offset + share * step.offset };
      const reached = loss(candidate, logits, targets);
      if (reached >= lowest) continue;
      [best, lowest] = [candidate, reached];
      break;
    }
    if (halvings === HALVINGS) break;
  }
  return best;
}
