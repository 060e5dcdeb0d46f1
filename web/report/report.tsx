import { createHash } from 'node:crypto';
import { renderToString } from 'preact-render-to-string';
import script from 'report:script';
import styles from 'report:styles';
import type { ReportData } from '../../src/report/html/report-data.ts';
import { Page } from './page.tsx';

/**
 * Renders a report as one HTML file. Its Content-Security-Policy allows only its one script and its one style sheet, by
 * hash: no address can be loaded, and no markup in the data could run.
 */
export function renderReport(data: ReportData): string {
  const policy = [
    "default-src 'none'",
    `script-src '${cspHash(script)}'`,
    `style-src '${cspHash(styles)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>Moderation report</title>
<style>${styles}</style>
</head>
<body>
${renderToString(<Page data={data} />)}
<script>${script}</script>
</body>
</html>
`;
}

function cspHash(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
