import type { RunDetail } from '../../../../src/dashboard/api/runs.ts';
import { probability } from '../../item/words.ts';
import { DecisionBadge } from '../../ui/badge.tsx';
import { Foreign } from '../../ui/foreign.tsx';
import { optionOf, ReviewState, type RowProps, Why } from './row.tsx';
import { hasThumbnail, Kind, Thumbnail } from './thumbnail.tsx';

interface TileProps extends RowProps {
  readonly run: RunDetail;
  /** Whether its image is shown without blur. */
  readonly clear: boolean;
}

/** An item as a tile of the grid: an image as a blurred thumbnail, anything else as what it is. */
export function Tile({ run, clear, ...props }: TileProps) {
  const { row, review, saving } = props;
  return (
    <div {...optionOf(props)} class="tile">
      <span class="tile-picture">
        {hasThumbnail(run, row) ? (
          <Thumbnail run={run.run} seq={row.seq} clear={clear} />
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
        <Foreign text={row.id} max={60} />
      </span>
      <span class="tile-review">
        <ReviewState review={review} saving={saving} />
      </span>
    </div>
  );
}
