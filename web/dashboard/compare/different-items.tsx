import type { DiffPair } from '../../../src/dashboard/api/runs.ts';
import { Link } from '../app/link.tsx';
import { DecisionBadge } from '../ui/badge.tsx';
import { DataTable } from '../ui/data-table.tsx';
import { Foreign } from '../ui/foreign.tsx';
import { count } from '../ui/format.ts';

interface Props {
  readonly title: string;
  readonly run: string;
  readonly before: string;
  readonly pairs: readonly DiffPair[];
}

/** Pairs of items, each with a way to both. */
export function DifferentItems({ title, run, before, pairs }: Props) {
  if (pairs.length === 0) return null;
  return (
    <section class="stack">
      <DataTable
        caption={title}
        rows={pairs}
        rowKey={({ a, b }) => `${a.seq} ${b.seq}`}
        columns={[
          {
            key: 'item',
            header: 'Item',
            cell: ({ b, times }) => (
              <>
                <Link to={{ page: 'item', run, seq: b.seq }}>
                  <Foreign text={b.id} max={60} />
                </Link>
                {times > 1 && <span class="muted"> and {count(times - 1)} with the same content</span>}
              </>
            ),
          },
          {
            key: 'before',
            header: 'Before',
            cell: ({ a }) => (
              <Link to={{ page: 'item', run: before, seq: a.seq }}>
                <DecisionBadge decision={a.decision} />
                <span class="numbers"> {scoreOf(a)}</span>
              </Link>
            ),
          },
          {
            key: 'now',
            header: 'Now',
            cell: ({ b }) => (
              <>
                <DecisionBadge decision={b.decision} />
                <span class="numbers"> {scoreOf(b)}</span>
              </>
            ),
          },
        ]}
      />
    </section>
  );
}

const scoreOf = ({ score, error }: DiffPair['a']): string => score?.toFixed(3) ?? error ?? '';
