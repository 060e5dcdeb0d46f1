import type { ApiError } from '../api/http.ts';
import { openSession } from '../api/session.ts';
import { Page } from '../app/page.tsx';
import { Button } from '../ui/button.tsx';
import { Notice } from '../ui/notice.tsx';

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
