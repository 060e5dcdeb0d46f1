import type { JSX } from 'preact';
import type { ReportData } from '../../../src/report/html/report-data.ts';
import { time } from '../format.ts';
import { Name } from '../parts/name.tsx';
import { Fold } from '../parts/section.tsx';

/** Names the record behind the report. The report itself is not part of the record. */
export function Origin({ data }: { readonly data: ReportData }): JSX.Element {
  const { dir, manifestSha256, summary, files, version, madeAt, commands } = data;
  return (
    <Fold id="record" title="The record">
      <p>
        This report was made from the run's record and does not belong to it. To check the record, run{' '}
        <code>{commands.verify}</code>.
      </p>
      <dl class="rows">
        <div>
          <dt>Run directory</dt>
          <dd>
            <Name text={dir} />
          </dd>
        </div>
        <div>
          <dt>SHA-256 of manifest.json</dt>
          <dd>
            <code>{manifestSha256}</code>
          </dd>
        </div>
        <div>
          <dt>Chain head</dt>
          <dd>
            <Name text={summary.chain_head} />
          </dd>
        </div>
        <div>
          <dt>Made with</dt>
          <dd>
            guardsweep <Name text={version} />, {time(madeAt)}
          </dd>
        </div>
        {files.length > 0 && (
          <div>
            <dt>Files</dt>
            <dd>
              {files.map(({ name, url }) => (
                <>
                  <a href={url} rel="noreferrer">
                    <Name text={name} />
                  </a>{' '}
                </>
              ))}
            </dd>
          </div>
        )}
      </dl>
    </Fold>
  );
}
