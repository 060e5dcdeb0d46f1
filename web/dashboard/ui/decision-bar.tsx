import { ENDINGS, ENDING_WORDS, type Ending } from './badge.tsx';
import { count, formatCount, percent } from './format.ts';
import { Icon } from './icon.tsx';

interface Props {
  /** Number of items by ending; absent endings are not shown. */
  readonly endings: Readonly<Partial<Record<Ending, number>>>;
  /** Label of the bar, for screen readers. */
  readonly label: string;
}

/**
 * How items ended: a bar with a pattern for each ending, and the numbers in words below it, which suffice without the
 * bar.
 */
export function DecisionBar({ endings, label }: Props) {
  const counts = ENDINGS.flatMap((ending) => {
    const items = endings[ending];
    return items === undefined ? [] : [{ ending, items }];
  });
  const whole = counts.reduce((sum, { items }) => sum + items, 0);
  return (
    <div class="decisions">
      <div class="decision-bar" aria-hidden="true">
        {counts
          .filter(({ items }) => items > 0)
          .map(({ ending, items }) => (
            <div key={ending} class={`bar-${ending}`} style={{ flexGrow: items }} />
          ))}
      </div>
      <ul class="decision-legend" aria-label={label}>
        {counts.map(({ ending, items }) => (
          <li key={ending} class={`tone-${ending} ${items === 0 ? 'is-none' : ''}`}>
            <Icon name={ending} />
            {ENDING_WORDS[ending]} <strong>{count(items)}</strong>
            <span class="muted"> {percent(items, whole)}</span>
          </li>
        ))}
        <li class="muted">of {formatCount(whole, 'item')}</li>
      </ul>
    </div>
  );
}
