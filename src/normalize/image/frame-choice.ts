/** Which of `total` frames are judged, 0-based, ascending: at most `most`, evenly spaced, the first among them. */
export function chooseFrames(total: number, most: number): readonly number[] {
  const count = Math.min(total, most);
  return Array.from({ length: count }, (_, position) => Math.floor((position * total) / count));
}
