/** A turn of a transcript in one string, as Anthropic's hh-rlhf has them. */
const TURN = /(?:^|\n\n)(Human|Assistant):/g;

/**
 * The turns of a conversation written as one string, each turn beginning with an empty line and `Human:` or
 * `Assistant:`, as [role, content] pairs. Null for any other text.
 */
export function parseHumanAssistant(text: string): [role: string, content: string][] | null {
  const body = text.trimStart();
  const marks = [...body.matchAll(TURN)];
  if (marks.length === 0 || marks[0]!.index !== 0 || marks[0]![1] !== 'Human') return null;
  return marks.map((mark, index) => {
    const from = mark.index + mark[0].length;
    return [mark[1]!.toLowerCase(), body.slice(from, marks[index + 1]?.index).trim()];
  });
}
