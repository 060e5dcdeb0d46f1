import type { ItemDetail } from '../../../src/dashboard/api/items.ts';
import type { Review } from '../../../src/dashboard/api/reviews.ts';
import type { JSX } from 'preact';
import { Badge, DecisionBadge } from '../ui/badge.tsx';
import { UntrustedText, WholeUntrustedText } from '../ui/untrusted-text.tsx';
import { formatCount, localTime } from '../ui/format.ts';
import { categoryLabel, reopenedWords } from './words.ts';

/** Maximum reviews to show at once, and in all. */
const LATEST = 3;
const MAX_SHOWN = 100;

/** Reviews of the content of an item, the latest first. */
export function Reviews({ detail: { reviews, review, line } }: { readonly detail: ItemDetail }) {
  if (reviews.length === 0) return <p class="hint">No review yet.</p>;
  const shown = reviews.slice(-MAX_SHOWN).toReversed();
  const earlier = shown.slice(LATEST);
  const one = (each: Review): JSX.Element => (
    <One
      key={each.number}
      review={each}
      counts={each.number === review?.number && !review.reopened}
      own={line.run}
    />
  );
  return (
    <>
      {review?.reopened === true && (
        <p>
          <Badge tone="review">Open again</Badge> {reopenedWords(review, line.score)}
        </p>
      )}
      <ol class="reviews">{shown.slice(0, LATEST).map(one)}</ol>
      {earlier.length > 0 && (
        <details>
          <summary>{formatCount(earlier.length, 'earlier review')}</summary>
          <ol class="reviews">{earlier.map(one)}</ol>
        </details>
      )}
    </>
  );
}

interface OneProps {
  readonly review: Review;
  readonly counts: boolean;
  /** The run shown on the page. */
  readonly own: string;
}

function One({ review, counts, own }: OneProps) {
  return (
    <li>
      <p>
        {review.decision === null ? (
          <Badge>Taken back</Badge>
        ) : (
          <>
            <DecisionBadge decision={review.decision} />{' '}
            {review.decision === review.run_decision ? 'as the run' : 'unlike the run'}
          </>
        )}{' '}
        <span class="hint">
          <UntrustedText text={review.by} max={60} />,{' '}
          <time dateTime={review.at}>{localTime(review.at)}</time>
          {review.decision !== null && (review.seen ? ' · content shown' : ' · content not shown')}
          {counts && ' · counts'}
          {review.run !== own && (
            <>
              {' '}
              · in the run <UntrustedText text={review.run} max={60} />
            </>
          )}
        </span>
      </p>
      {review.categories !== null && (
        <p class="hint">
          {review.categories.length === 0
            ? 'In no category'
            : review.categories.map((key) => categoryLabel(key)).join(', ')}
        </p>
      )}
      {review.note !== '' && (
        <p class="note">
          <WholeUntrustedText text={review.note} />
        </p>
      )}
    </li>
  );
}
