import { useSignalEffect } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { RunDetail } from '../../../src/dashboard/api/runs.ts';
import { reviewerName } from '../api/session.ts';
import { runApi } from '../api/runs.ts';
import { usePoll } from '../api/use-poll.ts';
import { Page } from '../app/page.tsx';
import { Link, navigate } from '../app/router.tsx';
import { useShortcuts } from '../app/shortcuts.ts';
import { Deciding } from '../review/deciding.tsx';
import { getReviewing, type Reviewing } from '../review/reviewing.ts';
import { Announced, SessionBar } from '../review/session-bar.tsx';
import { Button } from '../ui/button.tsx';
import { ItemPlace, UntrustedText } from '../ui/untrusted-text.tsx';
import { count } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import { Notice } from '../ui/notice.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { ItemView } from './item-view.tsx';

/** A page with a single item. */
export function ItemPage({ run: name, seq }: { readonly run: string; readonly seq: number }) {
  const run = usePoll<RunDetail>(runApi(name));
  const known = getReviewing(name).details.get(seq);
  const line = known.kind === 'ready' ? known.detail.line : null;
  return (
    <Page
      title={`Item ${seq}`}
      {...(line !== null && { heading: <ItemPlace {...line} {...line.source} /> })}
      above={
        <nav class="breadcrumb" aria-label="Where you are">
          <Link to={getReviewing(name).route}>
            <Icon name="left" /> Review list of <UntrustedText text={run.value?.name ?? name} max={60} />
          </Link>
        </nav>
      }
    >
      {run.error !== null && <Notice tone="block" role="alert" title={run.error.message} />}
      {run.value === null ? run.error === null && <Skeleton /> : <Known run={run.value} seq={seq} />}
    </Page>
  );
}

function Known({ run, seq }: { readonly run: RunDetail; readonly seq: number }) {
  const reviewing = useMemo(() => getReviewing(run.run), [run.run, reviewerName()]);
  const { list, details } = reviewing;
  const listed = list.row.value?.seq === seq;
  useFollowing(reviewing, seq);
  const next = listed ? list.nextRow.value?.seq : undefined;
  useEffect(() => details.want(next === undefined ? [seq] : [seq, next]), [seq, next]);
  const move = (by: number): void => {
    if (listed) reviewing.move(by);
    else reviewing.announced.value = 'This item is not selected in the list.';
  };
  useShortcuts('Item', [
    { keys: ['j', 'ArrowRight'], does: 'Next item of the list', run: () => move(1), repeats: true },
    { keys: ['k', 'ArrowLeft'], does: 'Previous item of the list', run: () => move(-1), repeats: true },
    {
      keys: ['Escape'],
      does: 'Back to the list',
      run: () => navigate(reviewing.route),
    },
  ]);
  const known = details.get(seq);
  const detail = known.kind === 'ready' ? known.detail : null;

  return (
    <div class="item-page">
      {listed && (
        <nav class="item-nav" aria-label="Items of the list">
          <Button icon="left" onClick={() => move(-1)} disabled={list.position.value === 0}>
            <span class="hidden">Previous</span>
          </Button>
          <span>
            {count(list.position.value + 1)} of {count(list.total.value ?? 0)} in the list
          </span>
          <Button
            icon="right"
            onClick={() => move(1)}
            disabled={list.position.value + 1 >= (list.total.value ?? 0)}
          >
            <span class="hidden">Next</span>
          </Button>
        </nav>
      )}
      <ItemView run={run} seq={seq} detail={known} isPage />
      {detail !== null && (
        <Deciding
          key={seq}
          reviewing={reviewing}
          item={{
            ...{ seq, decision: detail.line.decision, restricted: detail.restricted },
            reviews: detail.reviews.length,
          }}
          readable={run.content.readable}
          review={detail.review}
        />
      )}
      <SessionBar reviewing={reviewing} />
      <Announced reviewing={reviewing} />
    </div>
  );
}

/** Goes to the item that the list selects if the list had selected this one. */
function useFollowing({ list }: Reviewing, seq: number): void {
  // Read while rendering: a key may move the list before effects run.
  const followed = useRef(list.row.peek()?.seq === seq);
  useSignalEffect(() => {
    const row = list.row.value;
    if (row === undefined) return;
    if (row.seq === seq) followed.current = true;
    else if (followed.current) navigate({ page: 'item', run: list.run, seq: row.seq }, { replace: true });
  });
}
