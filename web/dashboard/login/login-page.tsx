import { useState } from 'preact/hooks';
import { ApiError } from '../api/http.ts';
import { logIn, openSession } from '../api/session.ts';
import { Page } from '../app/page.tsx';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { Notice } from '../ui/notice.tsx';

export function LoginPage() {
  const [token, setToken] = useState('');
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      await logIn(token.trim());
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      setError(failure.status === 401 ? 'That is not the token of this server.' : failure.message);
      setBusy(false);
    }
  };

  return (
    <Page title="Log in">
      <form class="card login" onSubmit={(event) => void submit(event)}>
        <Field
          label="Token"
          hint="guardsweep serve prints it, with an address that logs you in at once."
          error={error}
          control={(attributes) => (
            <input
              {...attributes}
              type="password"
              autocomplete="current-password"
              required
              autofocus
              value={token}
              onInput={({ currentTarget }) => setToken(currentTarget.value)}
            />
          )}
        />
        <Button type="submit" kind="primary" busy={busy}>
          Log in
        </Button>
      </form>
    </Page>
  );
}

/** Replaces all pages while the server does not answer. */
export function Unreachable({ error }: { readonly error: ApiError }) {
  return (
    <Page title="No answer">
      <Notice tone="block" title={error.message} role="alert">
        <p>Start it with guardsweep serve, then try again.</p>
        <Button icon="reload" onClick={() => void openSession()}>
          Try again
        </Button>
      </Notice>
    </Page>
  );
}
