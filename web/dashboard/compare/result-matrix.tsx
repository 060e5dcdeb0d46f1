import type { DiffResult, Result } from '../../../src/dashboard/api/runs.ts';
import { DecisionBadge } from '../ui/badge.tsx';
import { count } from '../ui/format.ts';

const RESULTS: readonly Result[] = ['block', 'review', 'allow', 'error'];

/** Items by their result before and now. Those on the diagonal did not change. */
export function ResultMatrix({ results }: Pick<DiffResult, 'results'>) {
  const shownResults = RESULTS.filter((one) =>
    RESULTS.some((other) => results[one][other] > 0 || results[other][one] > 0),
  );
  return (
    <section class="card half" aria-labelledby="matrix">
      <h2 id="matrix">Results before and now</h2>
      <div class="table-scroll" role="region" aria-label="Items by result" tabIndex={0}>
        <table class="result-matrix">
          <caption class="hidden">Items by result: before in rows, now in columns</caption>
          <thead>
            <tr>
              <th scope="col">Before</th>
              {shownResults.map((now) => (
                <th key={now} scope="col" class="align-end">
                  <ResultBadge result={now} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shownResults.map((before) => (
              <tr key={before}>
                <th scope="row">
                  <ResultBadge result={before} />
                </th>
                {shownResults.map((now) => {
                  const items = results[before][now];
                  return (
                    <td
                      key={now}
                      class={`align-end numbers ${before === now || items === 0 ? 'muted' : 'changed'}`}
                    >
                      {count(items)}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

export function ResultBadge({ result }: { readonly result: Result }) {
  return <DecisionBadge decision={result === 'error' ? null : result} />;
}
