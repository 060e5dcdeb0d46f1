import type { Review } from '../../../src/dashboard/api/reviews.ts';
import { Badge, DecisionBadge } from '../ui/badge.tsx';
import { UntrustedText, WholeUntrustedText } from '../ui/untrusted-text.tsx';
import { formatCount, localTime } from '../ui/format.ts';
import { categoryLabel } from './words.ts';

/** Reviews that are shown at once, and in all. */
const LATEST = 3;
const MAX_SHOWN = 100;

/** Reviews of an item, the latest first. */
export function Reviews({ reviews }: { readonly reviews: readonly Review[] }) {
  if (reviews.length === 0) return <p class="hint">No review yet.</p>;
  const shown = reviews.slice(-MAX_SHOWN).toReversed();
  const earlier = shown.slice(LATEST);
  return (
    <>
      <ol class="reviews">
        {shown.slice(0, LATEST).map((review, index) => (
          <One key={reviews.length - index} review={review} counts={index === 0} />
        ))}
      </ol>
      {earlier.length > 0 && (
        <details>
          <summary>{formatCount(earlier.length, 'earlier review')}</summary>
          <ol class="reviews">
            {earlier.map((review, index) => (
              <One key={reviews.length - LATEST - index} review={review} counts={false} />
            ))}
          </ol>
        </details>
      )}
    </>
  );
}

/** `counts`: whether it is the last one. */
function One({ review, counts }: { readonly review: Review; readonly counts: boolean }) {
  return (
    <li>
      <p>
        {review.decision === null ? (
          <Badge>Taken back</Badge>
        ) : (
          <>
            <DecisionBadge decision={review.decision} /> {review.agrees ? 'as the run' : 'unlike the run'}
          </>
        )}{' '}
        <span class="hint">
          <UntrustedText text={review.by} max={60} />,{' '}
          <time dateTime={review.at}>{localTime(review.at)}</time>
          {review.decision !== null && (review.seen ? ' · content shown' : ' · content not shown')}
          {counts && review.decision !== null && ' · counts'}
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
