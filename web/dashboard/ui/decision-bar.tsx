import { ENDINGS, ENDING_WORDS, type Ending } from './badge.tsx';
import { count, percent } from './format.ts';
import { Icon } from './icon.tsx';

export type Endings = Readonly<Record<Ending, number>>;

interface Props {
  readonly endings: Endings;
  /** What is counted, for screen readers. */
  readonly label: string;
}

/** How items ended: a bar with a pattern for each ending, and the numbers in words below it, which alone would do. */
export function DecisionBar({ endings, label }: Props) {
  const whole = ENDINGS.reduce((sum, ending) => sum + endings[ending], 0);
  return (
    <div class="decisions">
      <div class="decision-bar" aria-hidden="true">
        {ENDINGS.filter((ending) => endings[ending] > 0).map((ending) => (
          <div key={ending} class={`bar-${ending}`} style={{ flexGrow: endings[ending] }} />
        ))}
      </div>
      <ul class="decision-legend" aria-label={label}>
        {ENDINGS.map((ending) => (
          <li key={ending} class={`tone-${ending} ${endings[ending] === 0 ? 'is-none' : ''}`}>
            <Icon name={ending} />
            {ENDING_WORDS[ending]} <strong>{count(endings[ending])}</strong>
            <span class="muted"> {percent(endings[ending], whole)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
