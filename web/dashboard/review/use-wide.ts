import { useEffect, useState } from 'preact/hooks';

const WIDE = '(min-width: 62rem)';

/** Whether there is room for an item beside the list. */
export function useWide(): boolean {
  const [wide, setWide] = useState(() => matchMedia(WIDE).matches);
  useEffect(() => {
    const media = matchMedia(WIDE);
    const changed = (): void => setWide(media.matches);
    media.addEventListener('change', changed);
    return () => media.removeEventListener('change', changed);
  }, []);
  return wide;
}
