/** Max length of a server's text that is looked at, in UTF-16 code units or bytes. What it means is at its beginning. */
const MAX_FOREIGN_TEXT = 4096;

/** A server's text of an error, cut before anything looks at it: it may be long, and may quote content. */
export function cutText(text: string): string {
  return text.slice(0, MAX_FOREIGN_TEXT);
}

/** As `cutText`, of the body of an error; null: there is none. */
export function cutBody(body: Buffer | null): string {
  return body?.toString('utf8', 0, MAX_FOREIGN_TEXT) ?? '';
}
