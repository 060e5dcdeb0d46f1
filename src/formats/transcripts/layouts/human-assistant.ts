/** Start of a turn in a transcript string, as in Anthropic's hh-rlhf data set. */
const TURN = /(?:^|\n\n)(Human|Assistant):/g;

/**
 * The turns of a conversation in one string, as [role, content] pairs. Each turn starts with an empty line and `Human:`
 * or `Assistant:`. Null for any other text.
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
