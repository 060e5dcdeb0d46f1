/** The values in Prometheus's text format, by name and labels as they stand there. */
export const metricValues = (text: string): Map<string, number> =>
  new Map([...text.matchAll(/^([^#\n].*) (\S+)$/gm)].map(([, name, value]) => [name!, Number(value)]));
