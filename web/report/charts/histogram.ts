import type { CustomSeriesRenderItemAPI } from 'echarts';
import { draw } from './draw.ts';

interface HistogramOptions {
  readonly bins: readonly number[];
  /** The horizontal axis: its ends, and whether it is of time (milliseconds since 1970). */
  readonly from: number;
  readonly to: number;
  readonly isTime?: boolean;
  /** Name of a colour of the page. */
  readonly color: string;
  /** Values that are marked with a line, and what it is called. */
  readonly marks?: readonly { readonly at: number; readonly name: string }[];
  readonly width: number;
  readonly height: number;
  /** Describes the chart in words; our own. */
  readonly label: string;
}

/** Counts beyond this ratio need a logarithmic scale: the rare ones are what people look for. */
const MAX_LINEAR_RATIO = 50;

/** Where a logarithmic axis begins: a single item has a height, too. */
const LOWEST = 0.5;
/** Most bins that are drawn with gaps. */
const MAX_APART = 60;

/** Labels of a time axis by what changes from one to the next. */
const TIME = {
  year: '{yyyy}',
  month: '{yyyy}-{MM}',
  day: '{MM}-{dd}',
  hour: '{HH}:{mm}',
  minute: '{HH}:{mm}',
  second: '{HH}:{mm}:{ss}',
};

/** Draws counts in equal bins. */
export function histogram(options: HistogramOptions): string {
  const { bins, from, to, isTime = false, color, marks = [], width, height, label } = options;
  const present = bins.filter((count) => count > 0);
  const max = Math.max(1, ...present);
  const isLog = !isTime && max / Math.min(max, ...present) > MAX_LINEAR_RATIO;
  const text = { color: 'var(--muted)', fontSize: 11, fontFamily: 'inherit' };
  const line = { lineStyle: { color: 'var(--border)' } };
  const option = {
    useUTC: true,
    grid: { left: 46, right: 12, top: marks.length > 0 ? 20 : 8, bottom: 22 },
    xAxis: {
      type: isTime ? 'time' : 'value',
      ...{ min: from, max: to, splitNumber: isTime ? Math.max(2, Math.round(width / 140)) : 5 },
      axisLabel: { ...text, hideOverlap: true, alignMaxLabel: 'right', ...(isTime && { formatter: TIME }) },
      axisLine: { show: true, onZero: false, ...line },
      axisTick: { show: true, ...line },
      splitLine: { show: false },
    },
    yAxis: {
      type: isLog ? 'log' : 'value',
      min: isLog ? LOWEST : 0,
      ...(isLog && { max: 10 ** Math.ceil(Math.log10(max)) }),
      minInterval: 1,
      splitNumber: 3,
      axisLabel: { ...text, formatter: (value: number) => (value < 1 && value > 0 ? '' : compact(value)) },
      splitLine: line,
    },
    series: {
      type: 'custom',
      silent: true,
      // One value, so that the vertical axis reaches the highest bin; all bars are one path, which is small and fast.
      data: [[from, max]],
      renderItem: (_: unknown, api: CustomSeriesRenderItemAPI) => ({
        type: 'path',
        shape: {
          pathData: barsPath(
            bins,
            (bin, count) => api.coord([from + (bin / bins.length) * (to - from), count]),
            isLog,
          ),
        },
        style: { fill: `var(--${color})` },
      }),
      markLine: {
        symbol: 'none',
        silent: true,
        lineStyle: { color: 'var(--text)', type: 'dashed' },
        label: { color: 'var(--text)', fontSize: 11, fontFamily: 'inherit', textBorderWidth: 0 },
        data: marks.map(({ at, name }) => ({ xAxis: at, label: { formatter: name } })),
      },
    },
  };
  return draw(option, width, height, isLog ? `${label} Logarithmic scale.` : label);
}

/** Of a bar, so that neighbours can be told apart. */
const GAP = 0.1;

/** The bars as one path. A bin that is not empty can always be seen. */
function barsPath(
  bins: readonly number[],
  /** Where on the drawing the left edge of a bin is at a count. */
  pointAt: (bin: number, count: number) => number[],
  isLog: boolean,
): string {
  const bars: string[] = [];
  const [, bottom] = pointAt(0, isLog ? LOWEST : 0) as [number, number];
  for (const [bin, count] of bins.entries()) {
    if (count === 0) continue;
    const [left, top] = pointAt(bin, count) as [number, number];
    const [right] = pointAt(bin + 1, count) as [number, number];
    const gap = bins.length > MAX_APART ? 0 : (right - left) * GAP;
    const points = [left + gap / 2, Math.min(top, bottom - 1), right - gap / 2, bottom].map((at) =>
      at.toFixed(1),
    );
    const [x0, y0, x1, y1] = points;
    bars.push(`M${x0} ${y1}V${y0}H${x1}V${y1}Z`);
  }
  // A path without a point is drawn as nothing.
  return bars.join('') || 'M0 0';
}

function compact(value: number): string {
  return value.toLocaleString('en-US', { notation: 'compact', maximumFractionDigits: 1 });
}
