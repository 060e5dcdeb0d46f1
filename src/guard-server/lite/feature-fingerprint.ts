import { createHash } from 'node:crypto';
import { FeatureExtractor } from './features.ts';
import { Vocabulary } from './vocabulary.ts';

/** Text that covers every character class, disguise and feature; repeated to be longer than a window. */
const PROBE =
  'The quick fox, 42 times! Ｆｕｌｌ ｗｉｄｔｈ? s p e l l e d o u t l3tters qiuck fll strеtchhhed zero\u200bwidth m\u00e1rk s\u0336t\u0336r\u0336 d.o.t.s t0 th3m\n' +
  'Größe naïve Ελλάδα Россия عربي हिन्दी தமிழ் 日本語のテキスト 中文字符 ภาษาไทย 한국어 문장 🙂 tiếng Việt x';
const REPEATS = 16;
const WORDS = ['the', 'quick', 'full', 'spelled', 'out', 'letters'];

/**
 * SHA-256 in hex of the features of a fixed text. It changes with the extractor, including the engine's Unicode tables,
 * and so shows whether a model was trained on the same features.
 */
export function featureFingerprint(): string {
  const extractor = new FeatureExtractor(new Vocabulary(WORDS));
  const hash = createHash('sha256');
  extractor.forEachPiece(PROBE.repeat(REPEATS), (buckets) => hash.update(`${buckets.join(' ')}\n`));
  return hash.digest('hex');
}
