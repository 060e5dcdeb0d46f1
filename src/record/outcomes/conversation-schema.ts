import { z } from 'zod';
import { DECISIONS } from '../../domain/outcome.ts';

const count = z.int().min(0);
const turnNumber = z.int().min(1);

/** A line of conversations.jsonl. Published as a JSON Schema. */
export const CONVERSATION = z
  .strictObject({
    schema: z.literal(1).describe('Version of the format.'),
    run: z.string().describe('Name of the run.'),
    id: z.string().describe('The id of its turns without the number of the turn.'),
    source: z
      .strictObject({
        path: z.string().describe('Name of the corpus and the path below it.'),
        row: count.nullable().describe('1-based record.'),
        line: count.nullable().describe('1-based line on which the record begins; null without lines.'),
      })
      .describe('Where the conversation is.'),
    part: z
      .string()
      .nullable()
      .describe('Which part of its record the conversation is; null for the record itself.'),
    first_seq: count.describe('Seq of its first turn; the others follow.'),
    turns: z.int().min(1).describe('Turns that are items.'),
    judged: count.describe('Turns with a verdict.'),
    decision: z
      .enum(DECISIONS)
      .nullable()
      .describe('The severest decision on a turn; null if a turn was not judged and none was flagged.'),
    tipped_by: z
      .strictObject({
        turn: turnNumber.describe('Its number in the record.'),
        seq: count.describe('Seq of its item.'),
        id: z.string().describe('Id of its item.'),
        decision: z.enum(DECISIONS).describe('The decision on it.'),
        decided_by: z.string().nullable().describe('The rule that made the decision.'),
      })
      .nullable()
      .describe('The first turn at which the conversation was no longer `allow`; null if there was none.'),
  })
  .meta({
    title: 'guardsweep conversation',
    description: 'A line of conversations.jsonl: a conversation that was judged at every turn.',
  });
