import { standardOutput } from '../src/terminal/standard-streams.ts';
import { LiteModel } from '../src/guard-server/lite/model.ts';
import { corporaFolder } from './corpora/corpus.ts';
import { runTool } from './command.ts';
import { evaluate } from './measure/evaluation.ts';
import { readUnseen } from './measure/unseen.ts';

/** Prints the evaluation of the shipped model, without training. */
await runTool(async () => {
  const unseen = await readUnseen(corporaFolder());
  const { main, more } = evaluate(await LiteModel.load(), unseen);
  standardOutput().lines(`${main}\n${more}`.trimEnd().split('\n'));
});
