import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A line of a request file. */
export interface RequestLine {
  readonly custom_id: string;
  readonly method: string;
  readonly url: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A line of an output or an error file. */
export interface ResultLine {
  readonly id: string;
  readonly custom_id: string;
  readonly response: {
    readonly status_code: number;
    readonly request_id: string;
    readonly body: unknown;
  } | null;
  readonly error: unknown;
}

/** The lines of all request files in a folder, in order. */
export async function requestLines(folder: string): Promise<RequestLine[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.jsonl')).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  return texts.flatMap((text) =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as RequestLine),
  );
}

/** Does what the Batch API does: sends each request to the server at this port, and keeps the answer. */
export async function answeredBatch(lines: readonly RequestLine[], port: number): Promise<ResultLine[]> {
  const results: ResultLine[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < lines.length; at = next++) {
      const { custom_id, method, url, body } = lines[at]!;
      const headers = { 'content-type': 'application/json' };
      const sent = { method, headers, body: JSON.stringify(body) };
      const reply = await fetch(`http://127.0.0.1:${port}${url}`, sent);
      const response = { status_code: reply.status, request_id: `req-${at}`, body: await reply.json() };
      results[at] = { id: `batch_req_${at}`, custom_id, response, error: null };
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return results;
}
