import type { ItemDetail } from '../../../src/dashboard/api/items.ts';
import type { RunDetail } from '../../../src/dashboard/api/runs.ts';
import { fileAdvice } from '../../../src/domain/words/file-kinds.ts';
import { Link } from '../app/router.tsx';
import { DecisionBadge } from '../ui/badge.tsx';
import { UntrustedText } from '../ui/untrusted-text.tsx';
import { ContentArea } from './content-area.tsx';
import type { Detail } from './details.ts';
import { Facts } from './facts.tsx';
import { Reviews } from './reviews.tsx';
import { ScoreBars } from './score-bars.tsx';
import { probability } from './words.ts';

/** An item: its verdict, its content when asked for, what people decided, and all that the record says. */
export function ItemView({
  run,
  seq,
  detail,
}: {
  readonly run: RunDetail;
  readonly seq: number;
  readonly detail: Detail;
}) {
  if (detail.kind === 'failed') return <p role="alert">This item could not be read: {detail.message}</p>;
  if (detail.kind === 'loading') return <p class="hint">Reading item {seq} …</p>;
  return <Known run={run} detail={detail.detail} />;
}

function Known({ run, detail }: { readonly run: RunDetail; readonly detail: ItemDetail }) {
  const { line, tipped_by: tippedBy, reviews } = detail;
  return (
    <article class="item" aria-label={`Item ${line.seq}`}>
      <Verdict detail={detail} />
      {tippedBy !== null && tippedBy.seq !== line.seq && (
        <p>
          Turn {tippedBy.turn} tipped this conversation:{' '}
          <Link to={{ page: 'item', run: run.run, seq: tippedBy.seq }}>item {tippedBy.seq}</Link>
        </p>
      )}
      <ContentArea key={line.seq} run={run} detail={detail} />
      <section aria-labelledby="reviews-title">
        <h3 id="reviews-title">Reviews</h3>
        <Reviews reviews={reviews} />
      </section>
      {line.status === 'ok' && <ScoreBars line={line} policy={run.policy} />}
      <Facts key={`facts ${line.seq}`} detail={detail} />
    </article>
  );
}

function Verdict({ detail }: { readonly detail: ItemDetail }) {
  const { line, decided_by_in_words: why } = detail;
  return (
    <header class="verdict">
      <h2>
        <UntrustedText text={line.id} max={80} />
      </h2>
      <p>
        <DecisionBadge decision={line.decision} />
        {line.score !== null && <strong class="score">{probability(line.score)}</strong>}
        {why !== null && <span class="why">{why}</span>}
      </p>
      {line.error !== null && (
        <p class="error">
          <code>{line.error.code}</code> <UntrustedText text={line.error.message} max={500} />{' '}
          <span class="hint">
            What to do: {fileAdvice(line.source.path, line.error)}.
            {line.error.retryable && ' A retry judges it again.'}
          </span>
        </p>
      )}
    </header>
  );
}
