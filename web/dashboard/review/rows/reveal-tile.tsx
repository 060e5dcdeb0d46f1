import type { Signal } from '@preact/signals';
import type { ItemRow } from '../../../../src/dashboard/api/items.ts';
import type { RunDetail } from '../../../../src/dashboard/api/runs.ts';
import { useShortcuts } from '../../app/shortcuts.ts';
import { Button } from '../../ui/button.tsx';
import { hasThumbnail } from './thumbnail.tsx';

interface RevealTileProps {
  /** The selected item. */
  readonly row: ItemRow | undefined;
  readonly run: RunDetail;
  /** Items whose thumbnails are shown without blur. */
  readonly cleared: Signal<ReadonlySet<number>>;
}

/** Shows the thumbnail of the selected item without blur, or blurs it again. */
export function RevealTile({ row, run, cleared }: RevealTileProps) {
  const possible = row !== undefined && hasThumbnail(run, row);
  const isClear = row !== undefined && cleared.value.has(row.seq);
  const toggle = (): void => {
    if (!possible) return;
    const next = new Set(cleared.value);
    if (!next.delete(row.seq)) next.add(row.seq);
    cleared.value = next;
  };
  useShortcuts('Grid', [
    { keys: ['t'], does: 'Show the thumbnail clearly, which is logged, or blur it again', run: toggle },
  ]);
  return (
    <div class="reveal-tile">
      <Button class="button-small" onClick={toggle} disabled={!possible}>
        {isClear ? 'Blur the thumbnail again' : 'Show the thumbnail clearly'} <kbd>t</kbd>
      </Button>
      <span class="hint">This is logged, and counts as viewed.</span>
    </div>
  );
}
