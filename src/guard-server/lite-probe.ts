import { history, type GuardRequest } from '../domain/request.ts';
import { LiteModel } from './lite/model.ts';
import { type ProbeScores, type TextProbe } from './probe.ts';

/** Loads the text model that is shipped in the package. */
export async function loadLiteProbe(): Promise<TextProbe> {
  const model = await LiteModel.load();
  return {
    artifacts: model.artifacts,
    judge: (content) => judge(model, content),
  };
}

function judge(model: LiteModel, content: GuardRequest): ProbeScores {
  switch (content.requestType) {
    case 'prompt':
      return model.scoreText(content.text);
    case 'response':
      return model.scoreResponse(content.prompt, content.response);
    case 'multiturn':
      return model.scoreConversation(history(content));
  }
}
