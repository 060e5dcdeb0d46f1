/** Whether a header can carry the token: printable ASCII without spaces, and not empty. */
export function isToken(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}
