import type { RunDetail } from '../../../../src/dashboard/api/runs.ts';
import { ITEM_ADVICE } from '../../../../src/domain/words/item-advice.ts';
import { ITEM_CODES } from '../../../../src/domain/item-error.ts';
import { DecisionBar } from '../../ui/decision-bar.tsx';
import { count, formatCount } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';

export type Summary = NonNullable<RunDetail['summary']>;

interface Props {
  readonly summary: Summary;
  readonly decisions: RunDetail['by_decision'];
}

/** Judged and unjudged items, with equal space. Together they are all items. */
export function Accounting({ summary, decisions }: Props) {
  const { items, verdicts, errors } = summary;
  return (
    <div class="halves">
      <section class="card half" aria-labelledby="judged">
        <h2 id="judged">Judged</h2>
        <p class="figure">
          {count(verdicts)} <span>of {formatCount(items, 'item')}</span>
        </p>
        {decisions !== null && <DecisionBar label="Decisions on the judged items" endings={decisions} />}
      </section>
      <section class="card half" aria-labelledby="not-judged">
        <h2 id="not-judged">Not judged</h2>
        <p class={`figure ${errors > 0 ? 'is-unjudged' : ''}`}>
          {count(errors)} <span>of {formatCount(items, 'item')}</span>
        </p>
        {errors === 0 ? (
          <p class="with-icon tone-allow">
            <Icon name="check" />
            Every item has a verdict.
          </p>
        ) : (
          <>
            <p>Nothing is known of these items. Do not count them as clean.</p>
            <Codes byCode={summary.by_error_code} />
          </>
        )}
      </section>
    </div>
  );
}

/** The errors by their codes, the most frequent first, with what to do about them. */
function Codes({ byCode }: { readonly byCode: Summary['by_error_code'] }) {
  const codes = ITEM_CODES.map((code) => ({ code, items: byCode[code] ?? 0 }))
    .filter(({ items }) => items > 0)
    .sort((a, b) => b.items - a.items);
  return (
    <dl class="codes">
      {codes.map(({ code, items }) => (
        <div key={code}>
          <dt>
            <span class="code">{code}</span> <strong class="numbers">{count(items)}</strong>
          </dt>
          <dd>{ITEM_ADVICE[code].full}</dd>
        </div>
      ))}
    </dl>
  );
}
