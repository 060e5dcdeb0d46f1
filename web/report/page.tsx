import type { JSX } from 'preact';
import type { ReportData } from '../../src/report/html/report-data.ts';
import { Brief } from './sections/brief.tsx';
import { Coverage } from './sections/coverage.tsx';
import { Errors } from './sections/errors.tsx';
import { Flagged } from './sections/flagged.tsx';
import { Guards } from './sections/guards.tsx';
import { Heading } from './sections/heading.tsx';
import { Items } from './sections/items.tsx';
import { Outcome } from './sections/outcome.tsx';
import { Previous } from './sections/previous.tsx';
import { Rate } from './sections/rate.tsx';
import { Origin } from './sections/record.tsx';
import { Scores } from './sections/scores.tsx';

/** Places of the page that the contents list. */
const CONTENTS: readonly (readonly [id: string, title: string, isThere: (data: ReportData) => boolean])[] = [
  ['outcome', 'Outcome', () => true],
  ['errors', 'Not judged', () => true],
  ['flagged', 'Flagged', () => true],
  ['scores', 'Scores', ({ summary }) => summary.verdicts > 0],
  ['items', 'Items', () => true],
  ['coverage', 'Coverage', ({ coverage }) => coverage.length > 0],
  ['guards', 'Guards', () => true],
  ['rate', 'Over time', ({ rate }) => rate !== null],
  ['previous', 'Previous run', ({ previous }) => previous !== null],
  ['record', 'Record', () => true],
];

/** The body of the report. */
export function Page({ data }: { readonly data: ReportData }): JSX.Element {
  return (
    <>
      <Heading data={data} />
      <Brief data={data} />
      <nav aria-label="Contents">
        <ul>
          {CONTENTS.filter(([, , isThere]) => isThere(data)).map(([id, title]) => (
            <li>
              <a href={`#${id}`}>{title}</a>
            </li>
          ))}
        </ul>
      </nav>
      <main>
        <Outcome data={data} />
        <Errors data={data} />
        <Flagged data={data} />
        <Scores data={data} />
        <Items data={data} />
        <Coverage data={data} />
        <Guards data={data} />
        <Rate data={data} />
        <Previous data={data} />
        <Origin data={data} />
      </main>
    </>
  );
}
