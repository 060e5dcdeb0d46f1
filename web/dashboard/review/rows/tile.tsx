import type { Signal } from '@preact/signals';
import type { ItemRow } from '../../../../src/dashboard/api/items.ts';
import type { RunDetail } from '../../../../src/dashboard/api/runs.ts';
import { useShortcuts } from '../../app/shortcuts.ts';
import { probability } from '../../item/words.ts';
import { DecisionBadge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ItemPlace } from '../../ui/untrusted-text.tsx';
import { toOption, ReviewState, type RowProps, Why } from './row.tsx';
import { Kind, previewKind, TextTile, Thumbnail } from './thumbnail.tsx';

interface TileProps extends RowProps {
  readonly run: RunDetail;
  /** Whether its image is shown without blur, or the beginning of its text is shown. */
  readonly clear: boolean;
}

/** An item as a tile of the grid: a blurred thumbnail, the beginning of a text item, or just the item's type. */
export function Tile({ run, clear, ...props }: TileProps) {
  const { row } = props;
  const preview = previewKind(run, row);
  return (
    <div {...toOption(props)} class="tile">
      <span class="tile-picture">
        {preview === 'image' ? (
          // The key ensures that the blurred image is not shown as clear until the clear one has loaded.
          <Thumbnail key={String(clear)} run={run.run} seq={row.seq} clear={clear} />
        ) : preview === 'text' ? (
          <TextTile run={run.run} seq={row.seq} clear={clear} />
        ) : (
          <Kind icon={row.restricted ? 'lock' : (row.modality ?? 'file')} words={row.modality ?? 'file'} />
        )}
      </span>
      <span class="tile-verdict">
        <DecisionBadge decision={row.decision} />
        <span class="row-score">{row.score === null ? '' : probability(row.score)}</span>
      </span>
      <span class="row-why">
        <Why row={row} />
      </span>
      <span class="row-place">
        <ItemPlace {...row} />
      </span>
      <span class="tile-review">
        <ReviewState {...props} />
      </span>
    </div>
  );
}

interface RevealTileProps {
  /** The selected item. */
  readonly row: ItemRow | undefined;
  readonly run: RunDetail;
  /** Items shown without blur. */
  readonly cleared: Signal<ReadonlySet<number>>;
}

/** Shows the tile of the selected item without blur, or blurs it again. */
export function RevealTile({ row, run, cleared }: RevealTileProps) {
  const possible = row !== undefined && previewKind(run, row) !== null;
  const isClear = row !== undefined && cleared.value.has(row.seq);
  const toggle = (): void => {
    if (!possible) return;
    const next = new Set(cleared.value);
    if (!next.delete(row.seq)) next.add(row.seq);
    cleared.value = next;
  };
  useShortcuts('Grid', [
    { keys: ['t'], does: 'Show the tile clearly, which is logged, or blur it again', run: toggle },
  ]);
  return (
    <div class="reveal-tile">
      <Button class="button-small" onClick={toggle} disabled={!possible}>
        {isClear ? 'Blur the tile again' : 'Show the tile clearly'} <kbd>t</kbd>
      </Button>
      <span class="hint">This is logged, and counts as viewed.</span>
    </div>
  );
}
