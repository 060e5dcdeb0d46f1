import { useEffect, useState } from 'preact/hooks';
import { fetchMedia, apiErrorMessage } from '../review/review-api.ts';

export type Media =
  | { readonly kind: 'idle' }
  | { readonly kind: 'loading' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'ready'; readonly url: string };

/** Fetches an image or an audio clip; must be the same function in every rendering. */
export type FetchMedia = (run: string, seq: number, signal: AbortSignal) => Promise<Blob>;

/** The bytes of an image or an audio clip under an object URL of this page, which is revoked with its component. */
export function useMedia(run: string, seq: number, wanted: boolean, fetch: FetchMedia = fetchMedia): Media {
  const [media, setMedia] = useState<Media>({ kind: 'idle' });
  useEffect(() => {
    if (!wanted) return;
    const controller = new AbortController();
    let url: string | null = null;
    setMedia({ kind: 'loading' });
    fetch(run, seq, controller.signal).then(
      (bytes) => {
        if (controller.signal.aborted) return;
        url = URL.createObjectURL(bytes);
        setMedia({ kind: 'ready', url });
      },
      (error: unknown) => {
        if (!controller.signal.aborted) setMedia({ kind: 'failed', message: apiErrorMessage(error) });
      },
    );
    return () => {
      controller.abort();
      if (url !== null) URL.revokeObjectURL(url);
    };
  }, [run, seq, wanted, fetch]);
  return media;
}
