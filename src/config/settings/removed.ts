/** Advice for settings that no longer exist, by their keys in job files. */
const INSTEAD: Readonly<Record<string, string>> = {
  chunkChars: 'responses are replayed in chunks of 200 characters',
  detach: 'run the command with nohup, systemd or Compose',
  insecureFleet: 'set GUARDSWEEP_FLEET_KEY',
  longText: 'long texts are judged in windows',
  maxConcurrency: 'the gateway takes 256 requests at a time',
  rehash: 'reuse: false (--no-reuse) reads every file',
  tables: 'verify checks tables by their hashes',
  writeJob: 'docs/job-files.md has a job file to copy',
  timeout: 'a request to the gateway ends after 50 s',
};

/** The replacement for a removed setting, by its key or its flag's name in camel case; null for other names. */
export function replacementFor(name: string): string | null {
  return Object.hasOwn(INSTEAD, name) ? INSTEAD[name]! : null;
}
