interface HistogramOptions {
  readonly bins: readonly number[];
  /** Ends of the horizontal axis; milliseconds since 1970 if `isTime`. */
  readonly from: number;
  readonly to: number;
  readonly isTime?: boolean;
  /** Name of a color of the page. */
  readonly color: string;
  /** Values to mark with a labelled line. */
  readonly marks?: readonly { readonly at: number; readonly name: string }[];
  readonly width: number;
  readonly height: number;
  /** Description for screen readers. Must be our own words: markup in it is not escaped. */
  readonly label: string;
}

/** If counts differ by more than this factor, the scale is logarithmic: readers look for the rare ones. */
const MAX_LINEAR_RATIO = 50;

/** Lowest value of a logarithmic scale. It is below 1, so a single item still has a height. */
const LOWEST = 0.5;

/** Max number of bins with gaps between bars. */
const MAX_BINS_WITH_GAPS = 60;

const LEFT = 46;
const RIGHT = 12;
const BOTTOM = 22;
/** Height of the label of a mark. Each has its own line, because marks may be close together. */
const MARK_LINE = 13;

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const TIME_STEPS = [1, 2, 5, 10, 15, 30]
  .flatMap((step) => [step * SECOND, step * MINUTE])
  .concat([1, 2, 3, 6, 12].map((step) => step * HOUR))
  .concat([1, 2, 5, 10, 30, 90].map((step) => step * DAY))
  .sort((a, b) => a - b);

/**
 * Draws counts in equal bins, as SVG that takes its colors from the page and has no inline styles, which the page's
 * Content-Security-Policy forbids.
 */
export function histogram(options: HistogramOptions): string {
  const { bins, from, to, isTime = false, color, marks = [], width, height, label } = options;
  const present = bins.filter((count) => count > 0);
  const max = Math.max(1, ...present);
  const isLog = !isTime && max / Math.min(max, ...present) > MAX_LINEAR_RATIO;
  const counts = isLog ? powersOfTen(max) : multiples(0, max, niceStep(max / 3));
  const highest = Math.max(max, counts.at(-1)!);
  const top = 8 + MARK_LINE * marks.length;
  const bottom = height - BOTTOM;
  const share = (count: number): number =>
    isLog ? Math.log(Math.max(count, LOWEST) / LOWEST) / Math.log(highest / LOWEST) : count / highest;
  const x = (value: number): number => LEFT + ((value - from) / (to - from)) * (width - LEFT - RIGHT);
  const y = (count: number): number => bottom - share(count) * (bottom - top);
  const step = isTime ? timeStep((to - from) / Math.max(2, Math.round(width / 140))) : 0.2;
  const parts = [
    ...counts.map((count) => line(LEFT, y(count), width - RIGHT, y(count), 'border')),
    line(LEFT, bottom, width - RIGHT, bottom, 'border'),
    ...counts.map((count) => text(LEFT - 6, y(count) + 4, 'end', compact(count))),
    `<path d="${barsPath(options, x, y)}" fill="var(--${color})"/>`,
    ...multiples(from, to, step).flatMap((value) => [
      line(x(value), bottom, x(value), bottom + 4, 'border'),
      text(
        x(value),
        height - 5,
        isTime ? anchorAt(x(value), width) : 'middle',
        isTime ? timeLabel(value, step) : String(value),
      ),
    ]),
    ...marks.flatMap(({ at, name }, index) => [
      line(x(at), MARK_LINE * (index + 1) + 2, x(at), bottom, 'text', ' stroke-dasharray="4 3"'),
      text(x(at), MARK_LINE * (index + 1), anchorAt(x(at), width), name, 'text'),
    ]),
  ];
  const words = isLog ? `${label} Logarithmic scale.` : label;
  return `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="${words}" viewBox="0 0 ${width} ${height}">${parts.join('')}</svg>`;
}

/** All bars as one path. Even the lowest bar is a pixel high. */
function barsPath(
  { bins, from, to }: HistogramOptions,
  x: (value: number) => number,
  y: (count: number) => number,
): string {
  const bottom = y(0);
  const binWidth = (x(to) - x(from)) / bins.length;
  const gap = bins.length > MAX_BINS_WITH_GAPS ? 0 : binWidth / 20;
  const bars = bins.map((count, bin) => {
    if (count === 0) return '';
    const left = x(from) + bin * binWidth + gap;
    const edge = Math.min(y(count), bottom - 1);
    return `M${round(left)} ${round(bottom)}V${round(edge)}h${round(binWidth - 2 * gap)}V${round(bottom)}Z`;
  });
  return bars.join('');
}

function line(x1: number, y1: number, x2: number, y2: number, color: string, more = ''): string {
  return `<path d="M${round(x1)} ${round(y1)}L${round(x2)} ${round(y2)}" stroke="var(--${color})"${more}/>`;
}

function text(x: number, y: number, anchor: string, words: string, color = 'muted'): string {
  return `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}" fill="var(--${color})">${words}</text>`;
}

/** Keeps a label within the drawing. */
function anchorAt(x: number, width: number): string {
  return x < LEFT + 30 ? 'start' : x > width - RIGHT - 30 ? 'end' : 'middle';
}

const round = (value: number): string => String(Number(value.toFixed(1)));

/** Multiples of a step in a range, both ends included, without the errors of repeated addition. */
function multiples(from: number, to: number, step: number): number[] {
  const first = Math.ceil(from / step);
  const last = Math.floor(to / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * step).toFixed(6)));
}

function powersOfTen(max: number): number[] {
  return Array.from({ length: Math.ceil(Math.log10(max)) + 1 }, (_, power) => 10 ** power);
}

/** The next number of the form 1, 2 or 5 times a power of ten; at least 1. */
function niceStep(atLeast: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, atLeast)));
  return power * ([1, 2, 5].find((factor) => factor * power >= atLeast) ?? 10);
}

function timeStep(atLeast: number): number {
  return TIME_STEPS.find((step) => step >= atLeast) ?? niceStep(atLeast / DAY) * DAY;
}

/** Formats a time in UTC, as precise as the step between labels. */
function timeLabel(ms: number, step: number): string {
  const iso = new Date(ms).toISOString();
  if (step >= DAY) return iso.slice(0, 10);
  return iso.slice(11, step >= MINUTE ? 16 : 19);
}

function compact(value: number): string {
  return value.toLocaleString('en-US', { notation: 'compact', maximumFractionDigits: 1 });
}
