import sharp from 'sharp';
import { seededRandom } from '../../training/random.ts';

/** Range of the random grain added to every value. */
const GRAIN = 32;

/** Makes a JPEG with the detail of a photograph: gradients, edges and grain; equal for equal seeds. */
export async function photograph(width: number, height: number, seed: number): Promise<Buffer> {
  const next = seededRandom(seed);
  const rgb = Buffer.alloc(width * height * 3);
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at += 3) {
      const grain = Math.floor(next() * GRAIN);
      const edge = ((x >> 7) ^ (y >> 6)) & 1 ? 40 : 0;
      rgb[at] = (x * 180) / width + grain + edge;
      rgb[at + 1] = (y * 180) / height + grain + edge;
      rgb[at + 2] = ((x + y) * 90) / width + grain;
    }
  }
  return sharp(rgb, { raw: { width, height, channels: 3 } })
    .jpeg({ quality: 85 })
    .toBuffer();
}
