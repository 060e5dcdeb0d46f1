import type { ItemDetail } from '../../../src/dashboard/api/items.ts';
import type { RunDetail } from '../../../src/dashboard/api/runs.ts';
import { fileAdvice } from '../../../src/domain/words/file-kinds.ts';
import { Link } from '../app/router.tsx';
import { DecisionBadge } from '../ui/badge.tsx';
import { ItemPlace, UntrustedText } from '../ui/untrusted-text.tsx';
import { ContentArea } from './content-area.tsx';
import type { Detail } from './details.ts';
import { ItemFacts } from './facts.tsx';
import { Reviews } from './reviews.tsx';
import { ScoreBars } from './score-bars.tsx';
import { probability } from './words.ts';

interface ItemViewProps {
  readonly run: RunDetail;
  readonly seq: number;
  readonly detail: Detail;
  /** Whether the page's heading shows its location. */
  readonly isPage?: boolean;
}

/** An item: its verdict, its content on request, people's decisions, and all recorded facts. */
export function ItemView({ run, seq, detail, isPage = false }: ItemViewProps) {
  if (detail.kind === 'failed') return <p role="alert">This item could not be read: {detail.message}</p>;
  if (detail.kind === 'loading') return <p class="hint">Reading item {seq} …</p>;
  return <Known run={run} detail={detail.detail} isPage={isPage} />;
}

interface KnownProps {
  readonly run: RunDetail;
  readonly detail: ItemDetail;
  readonly isPage: boolean;
}

function Known({ run, detail, isPage }: KnownProps) {
  const { line, tipped_by: tippedBy } = detail;
  return (
    <article class="item" aria-label={`Item ${line.seq}`}>
      <Verdict detail={detail} isPage={isPage} />
      {tippedBy !== null && tippedBy.seq !== line.seq && (
        <p>
          Turn {tippedBy.turn} tipped this conversation:{' '}
          <Link to={{ page: 'item', run: run.run, seq: tippedBy.seq }}>item {tippedBy.seq}</Link>
        </p>
      )}
      <ContentArea key={line.seq} run={run} detail={detail} />
      <section aria-labelledby="reviews-title">
        <h3 id="reviews-title">Reviews</h3>
        <Reviews detail={detail} />
      </section>
      {line.status === 'ok' && <ScoreBars line={line} policy={run.policy} />}
      <ItemFacts key={`facts ${line.seq}`} detail={detail} />
    </article>
  );
}

function Verdict({ detail, isPage }: Pick<KnownProps, 'detail' | 'isPage'>) {
  const { line, decided_by_in_words: why } = detail;
  const advice = line.error && fileAdvice(line.part ?? line.source.path, line.error);
  return (
    <header class="verdict">
      <h2 class={isPage ? 'hidden' : ''}>
        <ItemPlace {...line} {...line.source} />
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
            {advice !== null && `What to do: ${advice}. `}
            {line.error.retryable && 'A retry judges it again.'}
          </span>
        </p>
      )}
    </header>
  );
}
