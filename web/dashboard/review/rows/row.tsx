import type { ItemRow } from '../../../../src/dashboard/api/items.ts';
import { escapeText } from '../../../../src/domain/text/escape-text.ts';
import { categoryLabel, probability, reopenedWords } from '../../item/words.ts';
import { Badge, DecisionBadge } from '../../ui/badge.tsx';
import { localTime } from '../../ui/format.ts';
import { ItemPlace, UntrustedText } from '../../ui/untrusted-text.tsx';
import { Icon } from '../../ui/icon.tsx';

/** Maximum categories to name in a row. Further ones are only counted. */
const MAX_CATEGORIES = 3;

/** Maximum characters of a reviewer's name in a row. */
const MAX_NAME = 12;

export const idOf = (row: ItemRow): string => `row-${row.seq}`;

export interface RowProps {
  readonly row: ItemRow;
  /** Whether its review is being saved, or saving failed. */
  readonly saving: boolean;
  readonly failed: boolean;
  readonly position: number;
  readonly total: number;
  readonly selected: boolean;
  readonly press: () => void;
  readonly open: () => void;
}

/** The attributes that make an element an item's option in the list box. */
export function toOption({ row, position, total, selected, press, open }: RowProps) {
  return {
    id: idOf(row),
    role: 'option',
    'aria-selected': selected,
    'aria-posinset': position + 1,
    'aria-setsize': total,
    onClick: press,
    onDblClick: open,
  } as const;
}

/** An item as a line of the list. */
export function Row(props: RowProps) {
  const { row } = props;
  return (
    <div {...toOption(props)} class="item-row">
      <span class="row-decision">
        <DecisionBadge decision={row.decision} />
      </span>
      <span class="row-score">{row.score === null ? '' : probability(row.score)}</span>
      <span class="row-why">
        <Why row={row} />
      </span>
      <span class="row-place">
        <Icon name={row.modality ?? 'file'} />
        <span class="hidden">{row.modality ?? 'file'}</span>
        <ItemPlace {...row} />
        {row.id !== String(row.row) && !row.path.endsWith(row.id) && (
          <span class="row-id">
            <UntrustedText text={row.id} max={80} />
          </span>
        )}
      </span>
      <span class="row-review">
        <ReviewState {...props} />
      </span>
    </div>
  );
}

/** The categories an item is flagged for, or the reason why it was not judged. */
export function Why({ row }: { readonly row: ItemRow }) {
  if (row.error_code !== null) return <code>{row.error_code}</code>;
  const more = row.categories.length - MAX_CATEGORIES;
  return (
    <>
      {row.restricted && (
        <span class="restricted-mark">
          <Icon name="lock" /> never shown{' '}
        </span>
      )}
      {row.categories.slice(0, MAX_CATEGORIES).map((key, index) => (
        <span key={key}>
          {index > 0 && ', '}
          <UntrustedText text={categoryLabel(key)} max={40} />
        </span>
      ))}
      {more > 0 && ` and ${more} more`}
      {row.categories.length === 0 && row.decision !== 'allow' && 'no category'}
    </>
  );
}

/** The review of an item, or the state of saving it. */
export function ReviewState({
  row: { review, score },
  saving,
  failed,
}: Pick<RowProps, 'row' | 'saving' | 'failed'>) {
  if (saving) return <span class="reviewed saving">saving …</span>;
  if (failed)
    return (
      <Badge tone="block" icon="alert">
        not saved
      </Badge>
    );
  if (review === null) return null;
  if (review.reopened) {
    return (
      <span class="reviewed" title={reopenedWords(review, score)}>
        <Icon name="review" />
        reopened
      </span>
    );
  }
  const by = review.carried ? ` by ${escapeText(review.by, MAX_NAME)}` : '';
  return (
    <span class="reviewed" title={localTime(review.at)}>
      <Icon name={review.agrees ? 'check' : review.decision} />
      {review.agrees ? 'agreed' : review.decision}
      {by}
    </span>
  );
}
