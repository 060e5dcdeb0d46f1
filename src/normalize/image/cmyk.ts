/**
 * Converts uncalibrated CMYK to RGB: each channel is (1 - ink) x (1 - black). `cmyk` has `stride` bytes per pixel, of
 * which the first four are cyan, magenta, yellow and black; 255 is full ink. The product of two bytes is divided by 255
 * and rounded exactly. Returns three bytes per pixel.
 */
export function cmykToRgb(cmyk: Uint8Array, stride: number): Uint8Array {
  const pixels = Math.floor(cmyk.length / stride);
  const rgb = new Uint8Array(pixels * 3);
  for (let pixel = 0; pixel < pixels; pixel++) {
    const from = pixel * stride;
    const to = pixel * 3;
    const light = 255 - cmyk[from + 3]!;
    for (let ink = 0; ink < 3; ink++) {
      const product = cmyk[from + ink]! * light + 128;
      rgb[to + ink] = light - (((product >> 8) + product) >> 8);
    }
  }
  return rgb;
}
