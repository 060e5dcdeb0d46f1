import type { JSX } from 'preact';
import type { ReportData } from '../../../src/report/html/report-data.ts';
import { milliseconds, number } from '../format.ts';
import { Name } from '../parts/name.tsx';
import { Fold } from '../parts/section.tsx';
import { cell, Table, type Cell } from '../parts/table.tsx';

/** Maximum artifacts of a model to list. */
const MAX_ARTIFACTS = 50;

function hasBinaryScores(
  { binary_scores: models = [] }: ReportData['summary'],
  model: string | null,
): boolean {
  return model !== null && models.includes(model);
}

/** The guards and models that judged, and how they were checked. */
export function Guards({ data }: { readonly data: ReportData }): JSX.Element {
  const { guards, fingerprints, canaries, gates, summary } = data;
  return (
    <Fold id="guards" title="Guards and checks">
      {guards.length > 0 && (
        <Table
          caption="Which guards judged"
          columns={[
            { name: 'Endpoint' },
            { name: 'Kind' },
            { name: 'Fingerprint' },
            { name: 'Verdicts', numeric: true },
            { name: 'Median', numeric: true },
            { name: '95%', numeric: true },
            { name: 'Slowest', numeric: true },
          ]}
          rows={guards.map(({ endpoint, kind, fingerprint, verdicts, latency }) => [
            cell(<Name text={endpoint} />),
            cell(hasBinaryScores(summary, fingerprint) ? `${kind}, binary scores` : kind),
            cell(
              fingerprint === null ? (
                'none: the guard does not report its model'
              ) : (
                <Name text={fingerprint} />
              ),
            ),
            cell(number(verdicts), verdicts),
            ...(['p50', 'p95', 'max'] as const).map((key): Cell =>
              latency === null ? cell('–', -1) : cell(milliseconds(latency[key]), latency[key]),
            ),
          ])}
        />
      )}
      {summary.reused > 0 && (
        <p>{number(summary.reused)} verdicts were reused: their content had been judged before.</p>
      )}
      {fingerprints.map(({ id, artifacts }) => (
        <details>
          <summary>
            Artifacts of <Name text={id} />
          </summary>
          <dl class="artifacts">
            {Object.entries(artifacts)
              .slice(0, MAX_ARTIFACTS)
              .map(([name, sha256]) => (
                <div>
                  <dt>
                    <Name text={name} />
                  </dt>
                  <dd>
                    <Name text={sha256} />
                  </dd>
                </div>
              ))}
          </dl>
        </details>
      ))}
      <h3>Canaries</h3>
      <p>{canaries}</p>
      <h3>Gates</h3>
      {gates.length === 0 ? (
        <p>
          {summary.status === 'finished'
            ? 'The run had no gates.'
            : 'Gates are checked when the run is finished.'}
        </p>
      ) : (
        <ul>
          {gates.map(({ text, tripped }) => (
            <li class={tripped ? 'tripped' : undefined}>{text}</li>
          ))}
        </ul>
      )}
    </Fold>
  );
}
