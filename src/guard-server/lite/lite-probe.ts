import { CATEGORY_COUNT, CATEGORY_KEYS } from '../../domain/taxonomy.ts';
import { submittedTurns, type UnaryRequest } from '../../domain/request.ts';
import { LiteModel, type TextScores } from './model.ts';
import { ImageProbe } from '../lite-image/image-probe.ts';
import type { SexualContent } from '../lite-image/sexual-content.ts';
import type { Probe, ProbeRefusal, ProbeScores } from '../contract/probe.ts';

const SEXUAL_CONTENT = CATEGORY_KEYS.indexOf('sexual_content');

/** A probe with a decoder process. */
export interface LiteProbe extends Probe {
  /** Ends the decoder; a judgement in flight throws. */
  close(): Promise<void>;
}

/**
 * Loads the models that come with the package. Texts are judged by their words, images for Sexual Content and by their
 * caption, audio clips by their transcript only.
 */
export async function loadLiteProbe(): Promise<LiteProbe> {
  const [text, images] = await Promise.all([LiteModel.load(), ImageProbe.open()]);
  return {
    artifacts: { ...text.artifacts, ...images.artifacts },
    judge: (content) => judge(text, images, content),
    close: () => images.close(),
  };
}

function judge(
  text: LiteModel,
  images: ImageProbe,
  content: UnaryRequest,
): ProbeScores | ProbeRefusal | Promise<ProbeScores | ProbeRefusal> {
  switch (content.requestType) {
    case 'prompt':
      switch (content.modality) {
        case 'text':
          return text.scoreText(content.text);
        case 'image':
          return judgeImage(text, images, content.image, content.caption);
        case 'audio':
          return content.transcript === null
            ? { refusal: 'PROBE_NOT_LOADED', text: 'this guard judges audio by its transcript only' }
            : text.scoreText(content.transcript);
      }
    case 'response':
      return text.scoreResponse(content.prompt, content.response);
    case 'multiturn':
      return text.scoreConversation(submittedTurns(content));
  }
}

async function judgeImage(
  text: LiteModel,
  images: ImageProbe,
  image: Buffer,
  caption: string | null,
): Promise<ProbeScores | ProbeRefusal> {
  const seen = await images.judge(image);
  if ('refusal' in seen) return seen;
  return caption === null ? pictureAlone(seen) : worse(seen, text.scoreText(caption));
}

/** Scores of an image without a caption. Only one category was judged: the others are NaN, which is not zero. */
function pictureAlone({ probability, flagged }: SexualContent): ProbeScores {
  const categories = new Float32Array(CATEGORY_COUNT).fill(NaN);
  categories[SEXUAL_CONTENT] = probability;
  const categoryFlags = Array.from(categories, (_, category) => flagged && category === SEXUAL_CONTENT);
  return { score: probability, flagged, categories, categoryFlags };
}

/** The overall score and Sexual Content are the higher of image and caption; the other categories are the caption's. */
function worse(seen: SexualContent, caption: TextScores): ProbeScores {
  const categories = Float32Array.from(caption.categories);
  categories[SEXUAL_CONTENT] = Math.max(categories[SEXUAL_CONTENT]!, seen.probability);
  // A category flag of a text counts only if the text is flagged.
  const categoryFlags = caption.categoryFlags.map((flag) => flag && caption.flagged);
  if (seen.flagged) categoryFlags[SEXUAL_CONTENT] = true;
  return {
    score: Math.max(caption.score, seen.probability),
    flagged: caption.flagged || seen.flagged,
    categories,
    categoryFlags,
  };
}
