import { CustomChart } from 'echarts/charts';
import { GridComponent, MarkLineComponent } from 'echarts/components';
import { init, use, type EChartsCoreOption } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';

use([CustomChart, GridComponent, MarkLineComponent, SVGRenderer]);

/**
 * Draws a chart as SVG markup that obeys a Content-Security-Policy without inline styles, and takes its colours from the
 * page. Whatever is drawn must be our own words and numbers: no text from a record gets here.
 */
export function draw(option: EChartsCoreOption, width: number, height: number, label: string): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height });
  try {
    chart.setOption({ animation: false, ...option });
    return plain(chart.renderToSVGString(), label);
  } finally {
    chart.dispose();
  }
}

/** Without what a policy forbids (styles) and what only a live chart needs (classes, events, data). */
function plain(svg: string, label: string): string {
  return svg
    .replace(/<style[^]*<\/style>/, '')
    .replaceAll(/ (?:class|pointer-events|ecmeta_\w+|xmlns:xlink|xml:space)="[^"]*"/g, '')
    .replaceAll(/ style="[^"]*"/g, '')
    .replaceAll(/ (?:width|height)="\d+" (?=.*viewBox)/g, ' ')
    .replace('<svg ', `<svg role="img" aria-label="${label}" `)
    .replaceAll(/\n+/g, '');
}
