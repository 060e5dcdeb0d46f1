import { useState } from 'preact/hooks';
import { request } from '../api/http.ts';
import { ReviewerName } from '../login/reviewer-name.tsx';
import { decideUnseen, revealed, showTexts } from '../item/reveals.ts';
import { Button } from '../ui/button.tsx';
import { download } from '../ui/download.ts';
import { formatCount } from '../ui/format.ts';
import { toast } from '../ui/toast.tsx';
import { apiErrorMessage } from './review-api.ts';
import type { Reviewing } from './reviewing.ts';

/** The work done in this tab, the setting for masked texts, and the label files. */
export function SessionBar({ reviewing }: { readonly reviewing: Reviewing }) {
  const labels = `/api/runs/${encodeURIComponent(reviewing.run)}/labels`;
  return (
    <footer class="session-bar">
      <label>
        <input
          type="checkbox"
          checked={showTexts.value.value}
          onChange={(event) => showTexts.set(event.currentTarget.checked)}
        />{' '}
        Show texts as I move; each is logged
      </label>
      <label>
        <input
          type="checkbox"
          checked={decideUnseen.value.value}
          onChange={(event) => decideUnseen.set(event.currentTarget.checked)}
        />{' '}
        Let me decide without looking
      </label>
      <ReviewerName />
      <span class="hint">
        {formatCount(reviewing.made.value, 'decision')}, {formatCount(revealed.value, 'content')} shown in
        this tab
      </span>
      <span class="exports">
        Labels: <a href={`${labels}/labels.jsonl`}>JSON Lines</a>{' '}
        <LabelStudio path={`${labels}/label-studio.json`} />
      </span>
    </footer>
  );
}

/** The tasks contain content, so requesting them is logged like a look at each item. */
function LabelStudio({ path }: { readonly path: string }) {
  const [busy, setBusy] = useState(false);
  const save = async (): Promise<void> => {
    setBusy(true);
    try {
      const answer = await request(path, { method: 'POST', body: {} });
      download(await answer.blob(), 'label-studio.json');
    } catch (error) {
      toast(apiErrorMessage(error), 'block');
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button
      kind="quiet"
      title="With content: each item is logged as a look"
      busy={busy}
      onClick={() => void save()}
    >
      Label Studio
    </Button>
  );
}

/** Tells screen readers what was done, and the current position. */
export function Announced({ reviewing }: { readonly reviewing: Reviewing }) {
  return (
    <div class="hidden" role="status" aria-live="polite">
      {reviewing.announced.value}
    </div>
  );
}
