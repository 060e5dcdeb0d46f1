import type { Review } from '../../../src/dashboard/api/reviews.ts';
import { Badge, DecisionBadge } from '../ui/badge.tsx';
import { Foreign } from '../ui/foreign.tsx';
import { localTime } from '../ui/format.ts';
import { WholeForeign } from './whole-foreign.tsx';
import { categoryLabel } from './words.ts';

/** Reviews of an item that are shown; of more, the latest. */
const MAX_SHOWN = 20;

/** What people decided on an item, the latest first. */
export function Reviews({ reviews }: { readonly reviews: readonly Review[] }) {
  if (reviews.length === 0) return <p class="hint">No review yet.</p>;
  const shown = reviews.slice(-MAX_SHOWN).reverse();
  return (
    <ol class="reviews">
      {shown.map((review, index) => (
        <li key={reviews.length - index}>
          <p>
            {review.decision === null ? (
              <Badge>Taken back</Badge>
            ) : (
              <>
                <DecisionBadge decision={review.decision} /> {review.agrees ? 'as the run' : 'unlike the run'}
              </>
            )}{' '}
            <span class="hint">
              <Foreign text={review.by} max={60} />, <time dateTime={review.at}>{localTime(review.at)}</time>
              {index === 0 && review.decision !== null && ' · counts'}
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
              <WholeForeign text={review.note} />
            </p>
          )}
        </li>
      ))}
      {reviews.length > MAX_SHOWN && (
        <li class="hint">{reviews.length - MAX_SHOWN} earlier ones are in the file of reviews.</li>
      )}
    </ol>
  );
}
