import type { JSX } from 'preact';
import type { ReportData } from '../../src/report/html/report-data.ts';
import { Brief } from './sections/brief.tsx';
import { Coverage } from './sections/coverage.tsx';
import { Errors } from './sections/errors.tsx';
import { Categories } from './sections/groups.tsx';
import { Guards } from './sections/guards.tsx';
import { Heading } from './sections/heading.tsx';
import { Severe } from './sections/items.tsx';
import { Latency } from './sections/latency.tsx';
import { Previous } from './sections/previous.tsx';
import { Origin } from './sections/record.tsx';
import { Scores } from './sections/scores.tsx';
import { Sources } from './sections/sources.tsx';

/** The body of the report: first what everybody reads, then collapsed details. */
export function Page({ data }: { readonly data: ReportData }): JSX.Element {
  return (
    <>
      <Heading data={data} />
      <main>
        <Brief data={data} />
        <Severe data={data} />
        <Errors data={data} />
        <Previous data={data} />
        <Categories data={data} />
        <Scores data={data} />
        <Coverage data={data} />
        <Guards data={data} />
        <Latency data={data} />
        <Sources data={data} />
        <Origin data={data} />
      </main>
    </>
  );
}
