import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { ItemContent, ItemRow } from '../../../../src/dashboard/api/items.ts';
import type { RunDetail } from '../../../../src/dashboard/api/runs.ts';
import { useLoad } from '../../api/use-load.ts';
import { countReveal, lookAtContent, noteLook } from '../../item/reveals.ts';
import { displayText } from '../../item/text-content.tsx';
import { type FetchMedia, useMedia } from '../../item/use-media.ts';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { fetchThumbnail } from '../review-api.ts';

/** The preview that a tile can show of an item; null if it only shows the item's type. */
export function previewKind({ content }: RunDetail, row: ItemRow): 'image' | 'text' | null {
  if (!content.readable || row.restricted || row.error_code !== null || row.modality === 'audio') return null;
  return row.modality;
}

/** Maximum concurrent thumbnail requests: a browser has six connections to a server. */
const MAX_ASKED = 2;
let asked = 0;
/** Requests of tiles that are or were in sight. */
const waiting: (() => void)[] = [];

async function inTurn(run: string, seq: number, revealed: boolean, signal: AbortSignal): Promise<Blob> {
  while (asked >= MAX_ASKED) await new Promise<void>((resolve) => waiting.push(resolve));
  asked++;
  try {
    signal.throwIfAborted();
    return await fetchThumbnail(run, seq, revealed, signal);
  } finally {
    asked--;
    waiting.shift()?.();
  }
}

const fetchBlurred: FetchMedia = (run, seq, signal) => inTurn(run, seq, false, signal);

const fetchClear: FetchMedia = async (run, seq, signal) => {
  const image = await inTurn(run, seq, true, signal);
  countReveal();
  noteLook(run, seq, true);
  return image;
};

interface ThumbnailProps {
  readonly run: string;
  readonly seq: number;
  readonly clear: boolean;
}

/** An item's image. Until it is revealed, the server sends it too blurred to show any content. */
export function Thumbnail({ run, seq, clear }: ThumbnailProps) {
  const place = useRef<HTMLSpanElement>(null);
  const near = useSignal(false);
  const loaded = useRef(false);
  const media = useMedia(run, seq, near.value || loaded.current, clear ? fetchClear : fetchBlurred);
  loaded.current = media.kind === 'ready';
  useEffect(() => {
    const seen = new IntersectionObserver((entries) => (near.value = entries.at(-1)!.isIntersecting), {
      rootMargin: '200px',
    });
    seen.observe(place.current!);
    return () => seen.disconnect();
  }, []);
  return (
    <span ref={place} class="thumbnail">
      {media.kind === 'ready' && <img src={media.url} alt="" class={clear ? 'clear' : 'blurred'} />}
      {media.kind === 'failed' && <Kind icon="image" words="image, cannot be shown" />}
    </span>
  );
}

/** The beginning of an item's text, on request only. Until then it shows placeholder lines, since no text is read. */
export function TextTile({ run, seq, clear }: ThumbnailProps) {
  if (clear) return <Beginning run={run} seq={seq} />;
  return (
    <span class="tile-lines">
      <span class="hidden">text</span>
    </span>
  );
}

/** Maximum characters of a text on a tile. */
const MAX_BEGINNING = 200;

function Beginning({ run, seq }: Pick<ThumbnailProps, 'run' | 'seq'>) {
  const { value, error } = useLoad(`${run} ${seq}`, (signal) => lookAtContent(run, seq, signal));
  const text = error?.message ?? (value === null ? '' : previewText(value));
  return <span class="tile-text">{displayText(text.slice(0, MAX_BEGINNING))}</span>;
}

function previewText(content: ItemContent): string {
  if (content.kind === 'text') return content.text;
  if (content.kind === 'pair') return content.prompt;
  if (content.kind === 'conversation') return content.turns[0]?.text ?? '';
  return content.kind === 'unavailable' ? content.message : '';
}

/** The item's type, shown instead of an image. */
export function Kind({ icon, words }: { readonly icon: IconName; readonly words: string }) {
  return (
    <span class="tile-kind">
      <Icon name={icon} />
      {words}
    </span>
  );
}
