import { useRef } from 'preact/hooks';
import type { ThresholdEffect, ThresholdQuery } from '../../../src/dashboard/api/items.ts';
import { DECISIONS, type Decision } from '../../../src/domain/outcome.ts';
import { useLoad } from '../api/use-load.ts';
import { fetchEffect } from '../review/review-api.ts';
import { DecisionBadge } from '../ui/badge.tsx';
import { count, formatCount } from '../ui/format.ts';
import { Notice } from '../ui/notice.tsx';
import { Skeleton } from '../ui/skeleton.tsx';

/** Formats a change as `+12`, `−3` or `0`. */
function formatChange(difference: number): string {
  if (difference === 0) return '0';
  return difference > 0 ? `+${count(difference)}` : `−${count(-difference)}`;
}

/** Delay between the last move of a slider and the request, in milliseconds. */
const SETTLE_MS = 100;

interface EffectPanelProps {
  readonly run: string;
  /** Null while the thresholds are invalid; the effect of the previous ones is then shown. */
  readonly query: ThresholdQuery | null;
}

/** Number of items that the thresholds would decide differently. */
export function EffectPanel({ run, query }: EffectPanelProps) {
  const asked = useRef(query ?? { thresholds: {} });
  if (query !== null) asked.current = query;
  const { value, error, loading } = useLoad(JSON.stringify([run, asked.current]), async (signal) => {
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    signal.throwIfAborted();
    return fetchEffect(run, asked.current, signal);
  });
  return (
    <section class="effect card" aria-labelledby="effect-title">
      <h2 id="effect-title">What would change</h2>
      {error !== null && <Notice tone="block" role="alert" title={error.message} />}
      {value === null ? (
        error === null && <Skeleton />
      ) : (
        <Known effect={value} current={!loading && query !== null} />
      )}
    </section>
  );
}

function Known({ effect, current }: { readonly effect: ThresholdEffect; readonly current: boolean }) {
  const changed = effect.changes.reduce((sum, { items }) => sum + items, 0);
  return (
    <div class={current ? '' : 'outdated'} aria-busy={!current}>
      <p class="changed" role="status">
        {changed === 0 ? 'No item would change.' : `${formatCount(changed, 'item')} would change.`}
      </p>
      <table>
        <caption class="hidden">Items by decision, before and after</caption>
        <thead>
          <tr>
            <th scope="col">Decision</th>
            <th scope="col" class="align-end">
              Before
            </th>
            <th scope="col" class="align-end">
              After
            </th>
            <th scope="col" class="align-end">
              Difference
            </th>
          </tr>
        </thead>
        <tbody>
          {DECISIONS.toReversed().map((decision) => (
            <tr key={decision}>
              <th scope="row">
                <DecisionBadge decision={decision} />
              </th>
              <td class="align-end">{count(effect.now[decision])}</td>
              <td class="align-end">{count(effect.then[decision])}</td>
              <td class="align-end">{formatChange(effect.then[decision] - effect.now[decision])}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {changed > 0 && <Moves changes={effect.changes} />}
      {effect.unknown > 0 && (
        <p class="muted small">
          {formatCount(effect.unknown, 'verdict')} {effect.unknown === 1 ? 'has' : 'have'} no score for a
          category that has a threshold: with one, more might change.
        </p>
      )}
    </div>
  );
}

function Moves({ changes }: Pick<ThresholdEffect, 'changes'>) {
  const order = (decision: Decision): number => DECISIONS.indexOf(decision);
  const moved = changes
    .filter(({ items }) => items > 0)
    .toSorted((a, b) => order(b.to) - order(a.to) || order(b.from) - order(a.from));
  return (
    <ul class="moves" aria-label="Items by change">
      {moved.map(({ from, to, items }) => (
        <li key={`${from} ${to}`}>
          <span class="numbers">{count(items)}</span> from <DecisionBadge decision={from} /> to{' '}
          <DecisionBadge decision={to} />
        </li>
      ))}
    </ul>
  );
}
