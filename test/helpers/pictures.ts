import sharp, { type Sharp } from 'sharp';

/** Pixels of a picture of slopes and edges, the same at each call. */
export function drawnPixels(width: number, height: number): Buffer {
  const rgb = Buffer.alloc(width * height * 3);
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at += 3) {
      rgb[at] = (x * 255) / width;
      rgb[at + 1] = (y * 255) / height;
      rgb[at + 2] = ((x >> 5) + (y >> 5)) % 2 === 0 ? 220 : (x * y) % 64;
    }
  }
  return rgb;
}

/** That picture, to be encoded. */
export function drawn(width: number, height: number): Sharp {
  return sharp(drawnPixels(width, height), { raw: { width, height, channels: 3 } });
}
