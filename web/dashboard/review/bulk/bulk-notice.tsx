import { Button } from '../../ui/button.tsx';
import { count, formatCount } from '../../ui/format.ts';
import { Notice } from '../../ui/notice.tsx';
import { Progress } from '../../ui/progress.tsx';
import type { Bulk } from './bulk.ts';

/** Progress of a bulk decision; once saved, a way to undo it. */
export function BulkNotice({ bulk }: { readonly bulk: Bulk }) {
  const state = bulk.state.value;
  if (state.kind === 'none') return null;
  if (state.kind === 'saving') {
    const { undoing, done, of } = state;
    return (
      <Notice tone="accent" title={undoing ? 'Undoing' : 'Saving'}>
        <Progress label={undoing ? 'Undoing' : 'Saving'} share={done / of} />
        <p class="numbers">
          {count(done)} of {formatCount(of, 'item')}
        </p>
      </Notice>
    );
  }
  const { kind, items, left, problem } = state;
  const title =
    kind === 'saved'
      ? `${formatCount(items, 'item')} decided`
      : `Undone: ${formatCount(items, 'item')} open again`;
  return (
    <Notice
      tone={problem === null ? 'allow' : 'block'}
      role={problem === null ? 'status' : 'alert'}
      title={title}
    >
      {left > 0 && <p>{formatCount(left, 'item')} left alone: reviewed or restricted meanwhile.</p>}
      {problem !== null && <p>The others are as they were: {problem}</p>}
      {kind === 'saved' && items > 0 && (
        <>
          <Button onClick={() => void bulk.undo()}>Undo all</Button>{' '}
        </>
      )}
      <Button kind="quiet" onClick={() => bulk.dismiss()}>
        Dismiss
      </Button>
    </Notice>
  );
}
