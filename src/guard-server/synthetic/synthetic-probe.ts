import { createHash } from 'node:crypto';
import { BUILT_IN_CANARIES } from '../../domain/canary/built-in.ts';
import { contentSha256 } from '../../domain/content-hash.ts';
import { type Fingerprint, makeFingerprint } from '../../domain/fingerprint.ts';
import type { AudioRequest, ImageRequest, ItemRequest, UnaryRequest } from '../../domain/request.ts';
import { CATEGORY_COUNT } from '../../domain/taxonomy.ts';
import type { Probe, ProbeScores } from '../contract/probe.ts';
import type { MediaFeatures } from '../features/media-features.ts';

const FLAG_FROM = 0.5;

/**
 * Derives scores from the hash of the content: meaningless, but equal on every machine, in every batch and in every
 * version. About a fifth of all contents are flagged, each in at least one category. With `features`, images and audio
 * clips are hashed by their features, so an original and its normalized format get the same scores; those that cannot
 * be decoded, and all without `features`, are hashed by their bytes. The built-in canaries get the expected answers, so
 * a run can begin. `onJudged` is called with the `content_sha256` of every content; for an image or an audio clip, that
 * of a file with the bytes that were sent.
 */
export function syntheticProbe(
  version: number,
  features: MediaFeatures | null,
  onJudged: (contentSha256: string) => void,
): Probe {
  return {
    artifacts: syntheticFingerprint(version, features !== null).artifacts,
    judge(content: UnaryRequest): ProbeScores | Promise<ProbeScores> {
      const hash = contentSha256(asItem(content));
      onJudged(hash);
      const known = canaryOf(content);
      if (known !== undefined) return knownScores(known.expected === 'flagged');
      if (content.modality === 'text' || features === null) return scoresOf(Buffer.from(hash, 'hex'));
      return hashOfFeatures(content, features).then((known) => scoresOf(known ?? Buffer.from(hash, 'hex')));
    },
  };
}

/** The built-in canary with the content's text, caption or transcript. */
function canaryOf(content: UnaryRequest): (typeof BUILT_IN_CANARIES)[number] | undefined {
  if (content.requestType !== 'prompt') return undefined;
  const text =
    content.modality === 'text'
      ? content.text
      : content.modality === 'image'
        ? content.caption
        : content.transcript;
  return text === null
    ? undefined
    : BUILT_IN_CANARIES.find((canary) => canary.modality === content.modality && canary.text === text);
}

/** Hash of the features; null for media that cannot be decoded. */
async function hashOfFeatures(
  content: ImageRequest | AudioRequest,
  features: MediaFeatures,
): Promise<Buffer | null> {
  const hash = createHash('sha256');
  if (content.modality === 'image') {
    const pixels = await features.image(content.image);
    if (pixels === null) return null;
    hash.update(`image ${pixels.width} ${pixels.height}\n`).update(pixels.rgb);
    return hash.update(content.caption ?? '').digest();
  }
  const spectrogram = await features.audio(content.audio);
  if (spectrogram === null) return null;
  hash.update('audio\n').update(spectrogram);
  return hash.update(content.transcript ?? '').digest();
}

/** Fingerprint of a version of the synthetic model, which judges media by their features or by their bytes. */
export function syntheticFingerprint(version: number, byFeatures: boolean): Fingerprint {
  const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
  return makeFingerprint([
    [
      'synthetic-rule',
      sha256(`scores by the hash of the content${byFeatures ? ', of media by their features' : ''}`),
    ],
    ['synthetic-weights', sha256(`version ${version}`)],
  ])!;
}

function asItem(content: UnaryRequest): ItemRequest {
  if (content.modality === 'text') return content;
  const [bytes, caption] =
    content.modality === 'image' ? [content.image, content.caption] : [content.audio, content.transcript];
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const file = { corpus: '', path: '', sha256, bytes: bytes.length };
  return { requestType: 'prompt', modality: content.modality, file, caption };
}

function knownScores(flagged: boolean): ProbeScores {
  const score = Math.fround(flagged ? 0.9 : 0.1);
  const categories = new Float32Array(CATEGORY_COUNT);
  categories[0] = score;
  return { score, flagged, categories, categoryFlags: [...categories].map((one) => one >= FLAG_FROM) };
}

function scoresOf(hash: Buffer): ProbeScores {
  const uniform = hash.readUInt32LE(0) / 2 ** 32;
  const score = Math.fround(uniform * uniform * uniform);
  const main = hash[4]! % CATEGORY_COUNT;
  const categories = new Float32Array(CATEGORY_COUNT);
  const categoryFlags: boolean[] = [];
  for (let category = 0; category < CATEGORY_COUNT; category++) {
    const share = category === main ? 1 : hash[5 + category]! / 255;
    categories[category] = score * share;
    categoryFlags.push(categories[category]! >= FLAG_FROM);
  }
  return { score, flagged: score >= FLAG_FROM, categories, categoryFlags };
}
