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

/** Draws counts in equal bins. */
export function histogram(options: HistogramOptions): string {
  const { bins, from, to, isTime = false, color, marks = [], width, height, label } = options;
  const present = bins.filter((count) => count > 0);
  const max = Math.max(1, ...present);
  const isLog = max / Math.min(max, ...present) > MAX_LINEAR_RATIO;
  const text = { color: 'var(--muted)', fontSize: 11, fontFamily: 'inherit' };
  const line = { lineStyle: { color: 'var(--border)' } };
  const option = {
    useUTC: true,
    grid: { left: 46, right: 12, top: marks.length > 0 ? 20 : 8, bottom: 22 },
    xAxis: [
      { type: 'category', data: bins.map((_, index) => index), show: false },
      {
        type: isTime ? 'time' : 'value',
        position: 'bottom',
        ...{ min: from, max: to, splitNumber: isTime ? Math.max(2, Math.round(width / 140)) : 5 },
        axisLabel: { ...text, hideOverlap: true },
        axisLine: { show: true, onZero: false, ...line },
        axisTick: { show: true, ...line },
        splitLine: { show: false },
      },
    ],
    yAxis: {
      type: isLog ? 'log' : 'value',
      min: isLog ? 0.5 : 0,
      minInterval: 1,
      splitNumber: 3,
      axisLabel: { ...text, formatter: (value: number) => (value < 1 && value > 0 ? '' : compact(value)) },
      splitLine: line,
    },
    series: [
      {
        type: 'bar',
        data: bins.map((count) => (count === 0 ? null : count)),
        barCategoryGap: bins.length > 60 ? 0 : '8%',
        itemStyle: { color: `var(--${color})` },
        silent: true,
      },
      {
        type: 'line',
        xAxisIndex: 1,
        data: [],
        silent: true,
        markLine: {
          symbol: 'none',
          silent: true,
          lineStyle: { color: 'var(--text)', type: 'dashed' },
          label: { color: 'var(--text)', fontSize: 11, fontFamily: 'inherit', textBorderWidth: 0 },
          data: marks.map(({ at, name }) => ({ xAxis: at, label: { formatter: name } })),
        },
      },
    ],
  };
  return draw(option, width, height, isLog ? `${label} Logarithmic scale.` : label);
}

function compact(value: number): string {
  return value.toLocaleString('en-US', { notation: 'compact', maximumFractionDigits: 1 });
}
