import type { ItemContent, ItemDetail } from '../../../src/dashboard/api/items.ts';
import { AudioContent } from './audio-content.tsx';
import { Conversation } from './conversation.tsx';
import { ImageContent } from './image-content.tsx';
import { Restricted } from './restricted.tsx';
import { maskTexts } from './reveals.ts';
import { TextContent } from './text-content.tsx';
import { ADVICE } from './words.ts';

interface ShownProps {
  readonly run: string;
  readonly detail: ItemDetail;
  readonly content: ItemContent;
}

/** Content that was read. */
export function Shown({ run, detail, content }: ShownProps) {
  return (
    <>
      <Body run={run} detail={detail} content={content} />
      {'cut' in content && content.cut && (
        <p class="hint">Only a part is shown: the content is longer than this page shows.</p>
      )}
      {hasText(content) && (
        <label class="mask">
          <input
            type="checkbox"
            checked={maskTexts.value.value}
            onChange={(event) => maskTexts.set(event.currentTarget.checked)}
          />{' '}
          Mask texts <kbd>m</kbd>
        </label>
      )}
    </>
  );
}

/** Whether there is something to mask. */
function hasText(content: ItemContent): boolean {
  if (content.kind === 'image') return content.caption !== null;
  return content.kind === 'audio' ? content.transcript !== null : 'cut' in content;
}

function Body({ run, detail, content }: ShownProps) {
  switch (content.kind) {
    case 'text':
      return <TextContent label="Text" text={content.text} marked={content.marked} />;
    case 'pair':
      return (
        <>
          <h4>Prompt</h4>
          <TextContent label="Prompt" text={content.prompt} marked={null} />
          <h4>Response</h4>
          <TextContent label="Response" text={content.response} marked={content.marked} />
        </>
      );
    case 'conversation':
      return <Conversation content={content} tipped={detail.tipped_by?.turn === (content.tipped_at ?? -1)} />;
    case 'image':
      return <ImageContent run={run} seq={detail.line.seq} content={content} />;
    case 'audio':
      return <AudioContent run={run} seq={detail.line.seq} content={content} />;
    case 'unavailable':
      return content.reason === 'restricted' ? (
        <Restricted run={run} detail={detail} />
      ) : (
        <div class="unavailable">
          <p>{content.message}</p>
          {/* The reason for the item error is also why it is not shown; the advice is above. */}
          {detail.line.error === null && <p>{ADVICE[content.reason]}</p>}
        </div>
      );
  }
}
