import type { DiffResult } from '../../../src/dashboard/api/runs.ts';
import { categoryLabel } from '../item/words.ts';
import { DataTable } from '../ui/data-table.tsx';
import { count, counted } from '../ui/format.ts';

/** Which categories came and went on items that were flagged in both runs. */
export function CategoryMoves({ moved }: { readonly moved: DiffResult['category_moved'] }) {
  return (
    <section class="card half" aria-labelledby="moves">
      <h2 id="moves">Flagged in both, for other categories</h2>
      <p>{moved.pairs === 0 ? 'No item.' : `${counted(moved.pairs, 'item')}.`}</p>
      {moved.by_category.length > 0 && (
        <DataTable
          caption="Items by category that came or went"
          captionHidden
          rows={moved.by_category}
          rowKey={({ category }) => category}
          columns={[
            { key: 'category', header: 'Category', cell: ({ category }) => categoryLabel(category) },
            { key: 'gained', header: 'Came', align: 'end', cell: ({ gained }) => count(gained) },
            { key: 'lost', header: 'Went', align: 'end', cell: ({ lost }) => count(lost) },
          ]}
        />
      )}
    </section>
  );
}
