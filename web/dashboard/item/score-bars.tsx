import type { OutcomeLine } from '../../../src/domain/outcome.ts';
import type { Policy, Thresholds } from '../../../src/domain/policy.ts';
import { CATEGORIES, isCategoryKey } from '../../../src/domain/taxonomy.ts';
import { Badge } from '../ui/badge.tsx';
import { UntrustedText } from '../ui/untrusted-text.tsx';
import { probability } from './words.ts';

interface BarProps {
  readonly name: string;
  readonly score: number;
  readonly flagged: boolean;
  readonly thresholds: Thresholds | undefined;
}

const percent = (share: number): string => `${share * 100}%`;

function Bar({ name, score, flagged, thresholds = {} }: BarProps) {
  const { review, block } = thresholds;
  const level = score >= (block ?? 2) ? 'block' : score >= (review ?? 2) ? 'review' : 'allow';
  return (
    <tr class={flagged ? 'flagged' : ''}>
      <th scope="row">{name}</th>
      <td class="bar" aria-hidden="true">
        <span class={`fill ${level}`} style={{ width: percent(score) }} />
        {review !== undefined && <span class="tick review" style={{ left: percent(review) }} />}
        {block !== undefined && <span class="tick block" style={{ left: percent(block) }} />}
      </td>
      <td class="number">{probability(score)}</td>
      <td class="flag">
        {flagged && 'flagged'}
        {(level === 'review' || level === 'block') && (
          <span class="hidden">, at or above the threshold for {level}</span>
        )}
      </td>
    </tr>
  );
}

/**
 * The overall score and those of all categories, with the thresholds of the policy: flagged ones first, then the
 * highest. Categories without a score, which is not zero, are listed separately.
 */
export function ScoreBars({ line, policy }: { readonly line: OutcomeLine; readonly policy: Policy }) {
  const scores = line.subcategory_scores ?? {};
  const flags = line.subcategory_flags ?? [];
  const unknown = flags.filter((flag) => !isCategoryKey(flag));
  const { thresholds } = policy;
  const scored = CATEGORIES.flatMap(({ key, label }) => {
    const score = scores[key];
    return score === undefined ? [] : [{ key, label, score, flagged: flags.includes(key) }];
  }).sort((a, b) => Number(b.flagged) - Number(a.flagged) || b.score - a.score);
  const absent = CATEGORIES.filter(({ key }) => scores[key] === undefined);
  return (
    <section class="scores" aria-labelledby="scores-title">
      <h3 id="scores-title">Scores</h3>
      <table>
        <thead class="hidden">
          <tr>
            <th scope="col">Category</th>
            <th scope="col">Bar</th>
            <th scope="col">Score</th>
            <th scope="col">Flag of the guard</th>
          </tr>
        </thead>
        <tbody>
          {line.score !== null && (
            <Bar
              name="Overall"
              score={line.score}
              flagged={line.flagged === true}
              thresholds={thresholds?.default}
            />
          )}
          {scored.map(({ key, label, score, flagged }) => (
            <Bar
              key={key}
              name={label}
              score={score}
              flagged={flagged}
              thresholds={thresholds?.[key] ?? thresholds?.default}
            />
          ))}
        </tbody>
      </table>
      <p class="hint">
        {thresholds === null
          ? 'This run has no thresholds: what the guard flags is blocked.'
          : 'Marks: review from ┆ on, block from │ on.'}
      </p>
      {absent.length > 0 && (
        <p class="hint">
          <strong>No score from this guard</strong>, which is not zero:{' '}
          {absent.length === CATEGORIES.length
            ? `all ${CATEGORIES.length} categories. Guards score them only for what they flag.`
            : absent.map(({ key, label }) => (flags.includes(key) ? `${label} (flagged)` : label)).join(', ')}
        </p>
      )}
      {unknown.length > 0 && (
        <p>
          Also flagged, outside the taxonomy:{' '}
          {unknown.slice(0, 20).map((flag) => (
            <Badge key={flag}>
              <UntrustedText text={flag} max={60} />
            </Badge>
          ))}
        </p>
      )}
    </section>
  );
}
