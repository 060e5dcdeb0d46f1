import { useState } from 'preact/hooks';
import { ApiError } from '../api/http.ts';
import { nameReviewer, reviewerName } from '../api/session.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { UntrustedText } from '../ui/untrusted-text.tsx';

/** Under which name reviews are made here, and a way to change it. */
export function ReviewerName() {
  const [open, setOpen] = useState(false);
  return (
    <span>
      Reviewing as <UntrustedText text={reviewerName()} max={64} />{' '}
      <Button kind="quiet" class="button-small" onClick={() => setOpen(true)}>
        Change name
      </Button>
      {open && <NameDialog close={() => setOpen(false)} />}
    </span>
  );
}

function NameDialog({ close }: { readonly close: () => void }) {
  const [name, setName] = useState(reviewerName());
  const [error, setError] = useState<string | null>(null);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    try {
      await nameReviewer(name);
      close();
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      setError(failure.message);
    }
  };
  return (
    <Dialog title="Your name" onClose={close}>
      <form onSubmit={(event) => void submit(event)}>
        <Field
          label="Name"
          hint="Reviews from now on carry it, for everybody who can read the run."
          error={error}
          control={(attributes) => (
            <input
              {...attributes}
              autofocus
              required
              maxLength={64}
              value={name}
              onInput={({ currentTarget }) => setName(currentTarget.value)}
            />
          )}
        />
        <Button type="submit" kind="primary">
          Save
        </Button>
      </form>
    </Dialog>
  );
}
