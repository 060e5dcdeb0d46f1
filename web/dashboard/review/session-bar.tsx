import { revealed, showTexts } from '../item/reveals.ts';
import { counted } from '../ui/format.ts';
import type { Reviewing } from './reviewing.ts';

/** What was done and seen in this tab, the setting for texts, and the files of labels. */
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
      <span class="hint">
        {counted(reviewing.made.value, 'decision')}, {counted(revealed.value, 'content')} shown in this tab
      </span>
      <span class="exports">
        Labels: <a href={`${labels}/labels.jsonl`}>JSON Lines</a>{' '}
        <a href={`${labels}/label-studio.json`}>Label Studio</a>
      </span>
    </footer>
  );
}
