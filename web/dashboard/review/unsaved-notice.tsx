import { Button } from '../ui/button.tsx';
import { ENDING_WORDS } from '../ui/badge.tsx';
import { Foreign } from '../ui/foreign.tsx';
import { counted } from '../ui/format.ts';
import { Notice } from '../ui/notice.tsx';
import { MAX_UNSAVED, type ReviewQueue, type Unsaved } from './review-queue.ts';

/** Decisions that could not be saved, which stay until somebody does something about them, and a queue that is full. */
export function UnsavedNotice({ queue }: { readonly queue: ReviewQueue }) {
  const waiting = [...queue.unsaved.value.values()];
  const failed = waiting.filter(({ state, newer }) => state === 'failed' && newer === null);
  return (
    <>
      {queue.full && (
        <Notice tone="review" role="alert" title="No more decisions are taken">
          <p>{MAX_UNSAVED} wait to be saved. Go on when some of them are.</p>
        </Notice>
      )}
      {failed.length > 0 && (
        <Notice
          tone="block"
          role="alert"
          title={`${counted(failed.length, 'review')} ${failed.length === 1 ? 'is' : 'are'} not saved`}
        >
          <p>
            {failed[0]!.message} This browser keeps {failed.length === 1 ? 'it' : 'them'}, and tries again
            when the server is there.
          </p>
          <details>
            <summary>Which items</summary>
            <p>{failed.map(({ seq, review }) => `${seq}: ${wordOf(review.decision)}`).join(', ')}</p>
          </details>
          <Button onClick={() => queue.retry()}>Try again</Button>{' '}
          <Button kind="quiet" onClick={() => queue.giveUp()}>
            Give {failed.length === 1 ? 'it' : 'them'} up
          </Button>
        </Notice>
      )}
      {waiting.map(
        (unsaved) =>
          unsaved.newer !== null && <Overtaken key={unsaved.seq} queue={queue} unsaved={unsaved} />,
      )}
    </>
  );
}

/** Asks what to do about a decision on an item that somebody else has reviewed meanwhile. */
function Overtaken({ queue, unsaved }: { readonly queue: ReviewQueue; readonly unsaved: Unsaved }) {
  const { seq, review, newer } = unsaved;
  if (newer === null) return null;
  return (
    <Notice tone="review" role="alert" title={`Item ${seq} was reviewed meanwhile`}>
      <p>
        <Foreign text={newer.by} max={64} /> decided: {wordOf(newer.decision)}. You decided:{' '}
        {wordOf(review.decision)}. Yours is not saved.
      </p>
      <Button onClick={() => queue.saveAnyway(seq)}>Save mine</Button>{' '}
      <Button kind="quiet" onClick={() => queue.giveUpOn(seq)}>
        Keep theirs
      </Button>
    </Notice>
  );
}

const wordOf = (decision: Unsaved['review']['decision']): string =>
  decision === null ? 'taken back' : ENDING_WORDS[decision];
