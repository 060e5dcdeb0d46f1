/** Indexes of the frames to judge, ascending: at most `max` of `total`, evenly spaced, starting with the first. */
export function chooseFrames(total: number, max: number): readonly number[] {
  const count = Math.min(total, max);
  return Array.from({ length: count }, (_, position) => Math.floor((position * total) / count));
}
