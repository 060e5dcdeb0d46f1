import { useSignal } from '@preact/signals';
import type { ItemContent } from '../../../src/dashboard/api/items.ts';
import { useShortcuts } from '../app/shortcuts.ts';
import { Button } from '../ui/button.tsx';
import { displayText } from './text-content.tsx';
import { useMedia } from './use-media.ts';

interface ImageContentProps {
  readonly run: string;
  readonly seq: number;
  readonly content: Extract<ItemContent, { kind: 'image' }>;
}

/** From fully blurred to grey; colour is a separate step without a key. */
const STEPS = ['blurred', 'half blurred', 'clear'] as const;

/** An image, blurred and grey until somebody reveals it step by step. Every image starts blurred. */
export function ImageContent({ run, seq, content }: ImageContentProps) {
  const step = useSignal(0);
  const colour = useSignal(false);
  const media = useMedia(run, seq, true);
  const next = (): void => {
    step.value = (step.value + 1) % STEPS.length;
    if (step.value === 0) colour.value = false;
  };
  useShortcuts('Image', [{ keys: ['b'], does: 'one step clearer, then blurred again', run: next }]);
  if (media.kind === 'failed') return <p role="alert">The image could not be loaded: {media.message}</p>;

  const look = `${STEPS[step.value]}, ${colour.value ? 'in colour' : 'grey'}`;
  const offered = ['Show it half blurred', 'Show it clearly', 'Blur it again'][step.value];
  return (
    <figure class="image-content">
      <button type="button" class="image-frame" onClick={next} aria-label={`Image, ${look}. ${offered}`}>
        {media.kind === 'ready' && (
          <img
            src={media.url}
            alt=""
            width={content.width}
            height={content.height}
            class={`blur-${step.value} ${colour.value ? 'colour' : 'grey'}`}
          />
        )}
      </button>
      <figcaption>
        <span>
          {content.width} × {content.height}, {look}
        </span>
        <Button class="button-small" onClick={next}>
          {offered} <kbd>b</kbd>
        </Button>
        <label>
          <input
            type="checkbox"
            checked={colour.value}
            onChange={(event) => (colour.value = event.currentTarget.checked)}
          />{' '}
          Colour
        </label>
      </figcaption>
      {content.caption !== null && (
        <div class="text-box" role="region" aria-label="Caption" tabIndex={0} data-scrolls>
          {displayText(content.caption)}
        </div>
      )}
    </figure>
  );
}
