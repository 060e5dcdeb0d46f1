import { useEffect } from 'preact/hooks';
import { Button } from '../ui/button.tsx';
import { counted } from '../ui/format.ts';
import { Notice } from '../ui/notice.tsx';
import type { ReviewQueue } from './review-queue.ts';

/** Reviews that could not be saved, which stays until somebody does something about it. */
export function UnsavedNotice({ queue }: { readonly queue: ReviewQueue }) {
  const isSaving = queue.unsaved.value.size > 0;
  useEffect(() => {
    if (!isSaving) return;
    // The browser asks whether to leave.
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [isSaving]);
  const failed = [...queue.unsaved.value.values()].filter(({ state }) => state === 'failed');
  if (failed.length === 0) return null;
  return (
    <Notice
      tone="block"
      role="alert"
      title={`${counted(failed.length, 'review')} ${failed.length === 1 ? 'is' : 'are'} not saved`}
    >
      <p>{failed[0]!.message}</p>
      <Button onClick={() => queue.retry()}>Try again</Button>{' '}
      <Button kind="quiet" onClick={() => queue.giveUp()}>
        Give {failed.length === 1 ? 'it' : 'them'} up
      </Button>
    </Notice>
  );
}
