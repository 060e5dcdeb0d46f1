import { standardOutput } from '../../terminal/standard-streams.ts';
import { LiteModel } from './model.ts';
import { corporaFolder, readCorpus } from './training/corpus.ts';
import { runTool } from './training/command.ts';
import { evaluate } from './training/evaluation.ts';

/** Prints the evaluation of the shipped model, as training does, without training. */
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
