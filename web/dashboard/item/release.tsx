import { useSignal } from '@preact/signals';
import { hasName } from '../login/reviewer-name.tsx';
import { apiErrorMessage, postRelease } from '../review/review-api.ts';
import { getReviewing } from '../review/reviewing.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';

/** Limit of the API. */
const MAX_NOTE = 2000;

/** Releases an item that is restricted for Sexual Content, with a note. */
export function Release({ run, seq }: { readonly run: string; readonly seq: number }) {
  const isOpen = useSignal(false);
  const note = useSignal('');
  const confirmed = useSignal(false);
  const failed = useSignal('');
  const isComplete = confirmed.value && note.value.trim() !== '';
  const close = (): void => void (isOpen.value = false);
  const release = async (): Promise<void> => {
    if (!isComplete) return;
    try {
      await postRelease(run, seq, note.value);
      const { details, list } = getReviewing(run);
      close();
      details.renew(seq);
      list.refresh();
    } catch (error) {
      failed.value = apiErrorMessage(error);
    }
  };
  if (!isOpen.value) return <Button onClick={() => (isOpen.value = hasName())}>Release …</Button>;
  return (
    <Dialog
      title={`Release item ${seq}`}
      onClose={close}
      footer={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" onClick={() => void release()} disabled={!isComplete}>
            Release
          </Button>
        </>
      }
    >
      <div class="note-form">
        <p>
          Everybody who reviews this run can then be shown the content, and it is exported as others are. That
          you released it stays in the history of the run.
        </p>
        <Field
          label="Note: how you know that it shows no child"
          control={(attributes) => (
            <textarea
              {...attributes}
              autofocus
              rows={4}
              maxLength={MAX_NOTE}
              value={note.value}
              onInput={(event) => (note.value = event.currentTarget.value)}
            />
          )}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={confirmed.value}
            onChange={(event) => (confirmed.value = event.currentTarget.checked)}
          />
          Nothing suggests that it shows a child
        </label>
        {failed.value !== '' && <p role="alert">It was not released: {failed.value}</p>}
      </div>
    </Dialog>
  );
}
