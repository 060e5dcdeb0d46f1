import type { ItemDetail } from '../../../src/dashboard/api/items.ts';
import { Release } from './release.tsx';
import { categoryLabel } from './words.ts';

/** Shown instead of restricted content: the reason, and what to do. */
export function Restricted({ run, detail }: { readonly run: string; readonly detail: ItemDetail }) {
  const { line, restricted_by: category, may_release: mayRelease } = detail;
  const mayBeReleased = category === 'sexual_content';
  const hash = line.source.sha256 ?? line.content_sha256;
  return (
    <div class="restricted">
      <h4>{mayBeReleased ? 'This content is withheld' : 'This content is never shown'}</h4>
      <p>
        {category === 'sexual_content'
          ? 'The policy catches it for Sexual Content, and its guard gave no score for Child Sexual Exploitation: it may be either. '
          : category === null
            ? 'It is, or is part of, content that is restricted elsewhere in this run. '
            : `It is flagged for ${categoryLabel(category)}. `}
        {mayBeReleased
          ? 'Nothing of it is read or sent to this page, unless somebody with the right to do so releases it with a note.'
          : 'Nothing of it is read or sent to this page, and no setting changes that.'}
      </p>
      <ol>
        <li>Do not open, copy or send the file yourself.</li>
        <li>
          Follow the procedure of your organisation, and tell the person who is responsible for such reports.
        </li>
        <li>
          Where there is none, the police or the hotline of your country takes the report: NCMEC in the United
          States, the IWF in the United Kingdom, a member of INHOPE elsewhere.
        </li>
        <li>Report the path in the record below{hash === null ? '.' : ', with this hash:'}</li>
      </ol>
      {hash !== null && (
        <p>
          SHA-256 <code class="hash">{hash}</code>
        </p>
      )}
      {mayRelease && <Release run={run} seq={line.seq} />}
      <p class="hint">You can decide on the item without seeing it, and leave a note on what was done.</p>
    </div>
  );
}
