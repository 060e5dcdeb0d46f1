/** Outlines on a 16 x 16 grid, drawn in the text colour. */
const PATHS = {
  allow: 'M8 1.75a6.25 6.25 0 1 0 0 12.5a6.25 6.25 0 0 0 0-12.5M5.25 8.25l1.9 1.9L10.9 6.1',
  review: 'M8 2.25L14.5 13.5h-13zM8 6.5v3.25M8 11.6v.15',
  block: 'M5.3 1.75h5.4l3.55 3.55v5.4l-3.55 3.55H5.3L1.75 10.7V5.3zM5 8h6',
  unjudged:
    'M6.2 2a6.3 6.3 0 0 1 3.6 0M13 4.2a6.3 6.3 0 0 1 1.2 3.4M13.6 11a6.3 6.3 0 0 1-2.4 2.5M8 14.25a6.3 6.3 0 0 1-3.4-1M2.2 10.5a6.3 6.3 0 0 1-.2-4.4M6.4 6.2a1.65 1.65 0 1 1 2.3 1.6c-.5.2-.7.5-.7 1.2M8 11.1v.15',
  check: 'M3 8.5l3.2 3.2L13 4.8',
  running: 'M5 3l8 5l-8 5z',
  paused: 'M5 3v10M11 3v10',
  stopped: 'M3.5 3.5h9v9h-9z',
  cancelled: 'M3.5 3.5l9 9M12.5 3.5l-9 9',
  alert: 'M8 1.75a6.25 6.25 0 1 0 0 12.5a6.25 6.25 0 0 0 0-12.5M8 4.8v3.7M8 10.9v.15',
  info: 'M8 1.75a6.25 6.25 0 1 0 0 12.5a6.25 6.25 0 0 0 0-12.5M8 7.5v3.7M8 4.9v.15',
  close: 'M4 4l8 8M12 4l-8 8',
  plus: 'M8 3v10M3 8h10',
  left: 'M10 3L5 8l5 5',
  right: 'M6 3l5 5l-5 5',
  reload: 'M13.25 8a5.25 5.25 0 1 1-1.6-3.75M13.5 1.75v3h-3',
  external: 'M9 2.5h4.5V7M13.2 2.8L7.5 8.5M11.5 9.5v3.75h-9V4.25h4',
  lock: 'M3.5 7.25h9v6.25h-9zM5.5 7v-2a2.5 2.5 0 0 1 5 0v2',
  shield: 'M8 1.75l5 1.9v4c0 3.2-2.1 5.3-5 6.6c-2.9-1.3-5-3.4-5-6.6v-4z',
  live: 'M8 6.75a1.25 1.25 0 1 0 0 2.5a1.25 1.25 0 0 0 0-2.5M4.6 4.6a4.8 4.8 0 0 0 0 6.8M11.4 4.6a4.8 4.8 0 0 1 0 6.8M2.4 2.4a8 8 0 0 0 0 11.2M13.6 2.4a8 8 0 0 1 0 11.2',
  text: 'M3 4h10M3 8h10M3 12h6',
  audio: 'M2.5 6.5v3M5.25 4v8M8 2.5v11M10.75 5v6M13.5 6.75v2.5',
  image: 'M1.75 2.75h12.5v10.5H1.75zM2 12l3.8-4.2l2.7 2.9l2-2.2l3.5 3.7',
  file: 'M4 1.75h5.5L12.5 4.75v9.5h-8.5z',
  system: 'M1.75 2.75h12.5v8.5H1.75zM5.5 14h5M8 11.5V14',
  light:
    'M8 5a3 3 0 1 0 0 6a3 3 0 0 0 0-6M8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1.1 1.1M11.9 11.9L13 13M13 3l-1.1 1.1M4.1 11.9L3 13',
  dark: 'M13.5 9.7A6 6 0 0 1 6.3 2.5a6 6 0 1 0 7.2 7.2z',
} as const;

export type IconName = keyof typeof PATHS;

/** An icon next to a word, never instead of one: hidden from screen readers. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
