import type {
  AudioRequest,
  GenerationRequest,
  ImageRequest,
  MultiturnRequest,
  PromptRequest,
  ResponseRequest,
  Turn,
} from '../../../src/domain/request.ts';

export function prompt(text: string): PromptRequest {
  return { requestType: 'prompt', modality: 'text', text };
}

/** `text 0`, `text 1`, … */
export function prompts(count: number): PromptRequest[] {
  return Array.from({ length: count }, (_, index) => prompt(`text ${index}`));
}

export function image(bytes: string | Buffer, caption: string | null = null): ImageRequest {
  return { requestType: 'prompt', modality: 'image', image: Buffer.from(bytes), caption };
}

export function audio(bytes: string | Buffer, transcript: string | null = null): AudioRequest {
  return { requestType: 'prompt', modality: 'audio', audio: Buffer.from(bytes), transcript };
}

/** The request for a turn of a conversation, the last one unless `turns` says another. `of`: its first seq. */
export function conversation(
  messages: readonly Turn[],
  { turns = messages.length, of = null }: { readonly turns?: number; readonly of?: number | null } = {},
): MultiturnRequest {
  return { requestType: 'multiturn', modality: 'text', messages, turns, conversation: of };
}

export function response(prompt: string | null, response: string): ResponseRequest {
  return { requestType: 'response', modality: 'text', prompt, response };
}

/** A generation; a verdict is asked for after every `cadenceChunks` chunks. */
export function generation(chunks: readonly string[], cadenceChunks = 1): GenerationRequest {
  return { requestType: 'generation', modality: 'text', prompt: 'say it', chunks, cadenceChunks };
}
