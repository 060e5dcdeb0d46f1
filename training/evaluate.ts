import { standardOutput } from '../src/terminal/standard-streams.ts';
import { LiteModel } from '../src/guard-server/lite/model.ts';
import { corporaFolder, readCorpus } from './corpora/corpus.ts';
import { runTool } from './command.ts';
import { evaluate } from './measure/evaluation.ts';

/** Prints the evaluation of the shipped model, without training. */
await runTool(async () => {
  const folder = corporaFolder();
  const dev = await readCorpus(folder, 'dev');
  const unspecified = await readCorpus(folder, 'unsafe_unspecified');
  standardOutput().lines(
    evaluate(await LiteModel.load(), dev, unspecified)
      .trimEnd()
      .split('\n'),
  );
});
