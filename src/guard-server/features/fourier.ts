/**
 * The discrete Fourier transform of one size, for sizes whose prime factors are small. Mixed-radix Stockham algorithm:
 * each stage reads one buffer in order and writes the other, so the result needs no reordering.
 */
export class FourierTransform {
  readonly size: number;
  readonly #radices: readonly number[];
  /** exp(-2 pi i k / size) for k below size. */
  readonly #cosines: Float64Array;
  readonly #sines: Float64Array;
  #real: Float64Array;
  #imaginary: Float64Array;
  #nextReal: Float64Array;
  #nextImaginary: Float64Array;

  constructor(size: number) {
    this.size = size;
    this.#radices = radicesOf(size);
    this.#cosines = Float64Array.from({ length: size }, (_, k) => Math.cos((2 * Math.PI * k) / size));
    this.#sines = Float64Array.from({ length: size }, (_, k) => -Math.sin((2 * Math.PI * k) / size));
    this.#real = new Float64Array(size);
    this.#imaginary = new Float64Array(size);
    this.#nextReal = new Float64Array(size);
    this.#nextImaginary = new Float64Array(size);
  }

  /** Input before `run`, output after it. `run` swaps the buffers: get them again after each run. */
  get real(): Float64Array {
    return this.#real;
  }

  get imaginary(): Float64Array {
    return this.#imaginary;
  }

  run(): void {
    let length = this.size;
    let stride = 1;
    for (const radix of this.#radices) {
      this.#stage(length, stride, radix);
      [this.#real, this.#nextReal] = [this.#nextReal, this.#real];
      [this.#imaginary, this.#nextImaginary] = [this.#nextImaginary, this.#imaginary];
      length /= radix;
      stride *= radix;
    }
  }

  /** Replaces `stride` interleaved transforms of `length` by `stride * radix` of `length / radix`. */
  #stage(length: number, stride: number, radix: number): void {
    const real = this.#real;
    const imaginary = this.#imaginary;
    const quotient = length / radix;
    for (let p = 0; p < quotient; p++) {
      for (let j = 0; j < radix; j++) {
        const to = stride * (radix * p + j);
        for (let q = 0; q < stride; q++) {
          let sumReal = 0;
          let sumImaginary = 0;
          for (let k = 0; k < radix; k++) {
            // exp(-2 pi i j (p + quotient k) / length): butterfly and twiddle factor in one.
            const angle = (j * (p + quotient * k) * stride) % this.size;
            const from = q + stride * (p + quotient * k);
            const cosine = this.#cosines[angle]!;
            const sine = this.#sines[angle]!;
            sumReal += real[from]! * cosine - imaginary[from]! * sine;
            sumImaginary += real[from]! * sine + imaginary[from]! * cosine;
          }
          this.#nextReal[to + q] = sumReal;
          this.#nextImaginary[to + q] = sumImaginary;
        }
      }
    }
  }
}

/** The prime factors of a size, with pairs of twos as fours. */
function radicesOf(size: number): number[] {
  const radices: number[] = [];
  let rest = size;
  for (; rest % 4 === 0; rest /= 4) radices.push(4);
  for (let radix = 2; rest > 1; radix++) {
    for (; rest % radix === 0; rest /= radix) radices.push(radix);
  }
  return radices;
}
