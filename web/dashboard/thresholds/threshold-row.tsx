import { useId } from 'preact/hooks';
import { categoryLabel } from '../item/words.ts';
import { Histogram } from '../review/histogram.tsx';
import { Button } from '../ui/button.tsx';
import { count, formatCount } from '../ui/format.ts';
import { effective, type Key, type Level, type Model, ownLevels } from './model.ts';

interface ThresholdRowProps {
  readonly model: Model;
  readonly name: Key;
  /** Items by score; undefined if the guard gave none. */
  readonly bins: readonly number[] | undefined;
  readonly crossed: boolean;
  readonly change: (level: Level, value: number | null) => void;
}

const LEVEL_WORDS: Readonly<Record<Level, string>> = { review: 'Review from', block: 'Block from' };

/** A row of the table: a category, or the overall score, with its scores in the run and its sliders. */
export function ThresholdRow({ model, name, bins, crossed, change }: ThresholdRowProps) {
  const title = name === 'default' ? 'Overall, and default' : categoryLabel(name);
  const { review, block } = effective(model, name);
  const scored = bins !== undefined && bins.some((items) => items > 0);
  const from = Math.min(review ?? 1, block ?? 1);
  return (
    <tr class="threshold-row">
      <th scope="row">
        {title}
        {crossed && (
          <p class="field-error" role="alert">
            Review is above block: nothing would ever be reviewed.
          </p>
        )}
      </th>
      <td class="spread">
        {scored ? <Histogram bins={bins} /> : <span class="muted small">none</span>}
        <span
          class="zone review"
          style={{ left: `${from * 100}%` }}
          hidden={!scored || (review === null && block === null)}
        />
        <span
          class="zone block"
          style={{ left: `${(block ?? 1) * 100}%` }}
          hidden={!scored || block === null}
        />
      </td>
      {(['review', 'block'] as const).map((level) => (
        <LevelControl
          key={level}
          title={title}
          level={level}
          own={ownLevels(model, name)[level]}
          fallback={name === 'default' ? null : model.default[level]}
          isDefault={name === 'default'}
          bins={bins}
          change={(value) => change(level, value)}
        />
      ))}
    </tr>
  );
}

interface LevelControlProps {
  readonly title: string;
  readonly level: Level;
  readonly own: number | null;
  /** The threshold in effect if the category does not set one; null means never. */
  readonly fallback: number | null;
  readonly isDefault: boolean;
  readonly bins: readonly number[] | undefined;
  readonly change: (value: number | null) => void;
}

/** Slider step, as fine as a policy needs; values in between can be typed. */
const STEP = 0.01;

function LevelControl({ title, level, own, fallback, isDefault, bins, change }: LevelControlProps) {
  const id = useId();
  const value = own ?? fallback;
  const without = isDefault || fallback === null ? 'never' : `as default, ${fallback}`;
  const reached = value === null || bins === undefined ? null : atOrAbove(bins, value);
  const take = (input: HTMLInputElement): void => {
    const { valueAsNumber } = input;
    if (!Number.isNaN(valueAsNumber)) change(Math.round(Math.min(1, Math.max(0, valueAsNumber)) * 1e4) / 1e4);
  };
  return (
    <td class={`level ${level} ${own === null ? 'inherited' : ''}`} data-level={LEVEL_WORDS[level]}>
      <label class="hidden" for={id}>
        {`${LEVEL_WORDS[level]}, ${title}`}
      </label>
      <input
        id={id}
        type="range"
        min={0}
        max={1}
        step={STEP}
        value={value ?? 1}
        aria-valuetext={`${own === null ? without : own}${reached === null ? '' : `, ${formatCount(reached, 'score')} at or above`}`}
        onInput={(event) => take(event.currentTarget)}
      />
      <input
        type="number"
        min={0}
        max={1}
        step={STEP}
        value={own ?? ''}
        placeholder={fallback === null ? 'never' : String(fallback)}
        aria-label={`${LEVEL_WORDS[level]}, ${title}, as a number`}
        onChange={(event) => {
          if (event.currentTarget.value === '') change(null);
          else take(event.currentTarget);
        }}
      />
      <span class="reached muted small" aria-hidden="true">
        {reached === null ? '' : count(reached)}
      </span>
      <Button
        kind="quiet"
        class="button-small"
        icon="reload"
        title={isDefault ? 'Never' : 'As default'}
        disabled={own === null}
        onClick={() => change(null)}
      >
        <span class="hidden">
          {`${isDefault ? 'Never' : 'As default'}: ${LEVEL_WORDS[level].toLowerCase()}, ${title}`}
        </span>
      </Button>
    </td>
  );
}

/** Number of items in bins from a threshold up; a threshold within a bin counts the whole bin. */
function atOrAbove(bins: readonly number[], threshold: number): number {
  const first = Math.floor(threshold * bins.length + 1e-9);
  return bins.slice(Math.min(first, bins.length - 1)).reduce((sum, items) => sum + items, 0);
}
