import type { ItemDetail } from '../../../src/dashboard/api/items.ts';
import { count, formatCount, localTime } from '../ui/format.ts';
import { Fact, Facts } from '../ui/facts.tsx';
import { WholeUntrustedText } from '../ui/untrusted-text.tsx';
import { coverageInWords } from './words.ts';

/** The record of an item, except its scores. */
export function ItemFacts({ detail }: { readonly detail: ItemDetail }) {
  const { line } = detail;
  const { source, stream } = line;
  const kind = [line.modality, line.request_type].filter((word) => word !== null).join(', ');
  return (
    <Facts title="Record" open>
      <Fact name="Id">
        <WholeUntrustedText text={line.id} />
      </Fact>
      <Fact name="Path">
        <WholeUntrustedText text={source.path} />
      </Fact>
      {source.row !== null && (
        <Fact name="Row">
          {count(source.row)}
          {source.line !== null && `, line ${count(source.line)}`}
        </Fact>
      )}
      {line.part !== null && (
        <Fact name="Part">
          <WholeUntrustedText text={line.part} />
        </Fact>
      )}
      {line.turn !== null && <Fact name="Turn">{line.turn}</Fact>}
      <Fact name="Judged as">{kind === '' ? 'nothing' : kind}</Fact>
      {line.coverage !== null && <Fact name="Coverage">{coverageInWords(line.coverage)}</Fact>}
      {detail.copies > 0 && (
        <Fact name="Same content">{formatCount(detail.copies, 'other item')}: one decision is for all</Fact>
      )}
      {line.reused_from !== null && (
        <Fact name="Judged in">
          {line.reused_from === line.run ? (
            'this run, as an earlier item with the same content'
          ) : (
            <>
              the earlier run <WholeUntrustedText text={line.reused_from} />
            </>
          )}
        </Fact>
      )}
      {line.roles !== null && (
        <Fact name="Other roles">
          {Object.entries(line.roles)
            .map(([role, turns]) => `${role} (${turns})`)
            .join(', ')}
        </Fact>
      )}
      {stream !== null && (
        <Fact name="Stream">
          {stream.chunks} chunks
          {stream.first_caution_seq !== null && `; caution first at chunk ${stream.first_caution_seq}`}
          {stream.first_flagged_seq !== null && `; flagged first at chunk ${stream.first_flagged_seq}`}
        </Fact>
      )}
      <Fact name="Guard">
        {line.endpoint === null ? 'none answered' : <WholeUntrustedText text={line.endpoint} />}
      </Fact>
      <Fact name="Fingerprint">
        {line.fingerprint === null ? 'none' : <code class="hash">{line.fingerprint}</code>}
      </Fact>
      <Fact name="Attempts">
        {line.attempts}
        {line.latency_ms !== null && `; answered in ${count(Math.round(line.latency_ms))} ms`}
      </Fact>
      <Fact name="Judged at">
        <time dateTime={line.moderated_at}>{localTime(line.moderated_at)}</time>
      </Fact>
      {source.bytes !== null && <Fact name="Size">{count(source.bytes)} bytes</Fact>}
      <Fact name="SHA-256">
        {line.content_sha256 === null && source.sha256 === null ? (
          'none'
        ) : (
          <code class="hash">{source.sha256 ?? line.content_sha256}</code>
        )}
      </Fact>
    </Facts>
  );
}
