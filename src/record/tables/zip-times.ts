/** Signatures of the records of a ZIP archive, and where their fields are. */
const END_OF_DIRECTORY = 0x06054b50;
const END_BYTES = 22;
const ENTRIES_AT = 10;
const DIRECTORY_AT = 16;
const ENTRY_BYTES = 46;
const TIME_OF_ENTRY_AT = 12;
const LENGTHS_OF_ENTRY_AT = 28;
const HEADER_OF_ENTRY_AT = 42;
const TIME_OF_HEADER_AT = 10;

/** 1980-01-01 00:00:00 as DOS time and date: the earliest there is. */
const EARLIEST = 0x0021_0000;

/** Sets the times of all files in a ZIP archive without a comment to the earliest, so that its bytes do not depend on when it was made. */
export function clearZipTimes(archive: Buffer): void {
  const end = archive.length - END_BYTES;
  if (end < 0 || archive.readUInt32LE(end) !== END_OF_DIRECTORY) throw new Error('not a ZIP archive');
  let at = archive.readUInt32LE(end + DIRECTORY_AT);
  for (let left = archive.readUInt16LE(end + ENTRIES_AT); left > 0; left--) {
    archive.writeUInt32LE(EARLIEST, at + TIME_OF_ENTRY_AT);
    archive.writeUInt32LE(EARLIEST, archive.readUInt32LE(at + HEADER_OF_ENTRY_AT) + TIME_OF_HEADER_AT);
    const lengths = at + LENGTHS_OF_ENTRY_AT;
    const [name, extra, comment] = [0, 2, 4].map((field) => archive.readUInt16LE(lengths + field));
    at += ENTRY_BYTES + name! + extra! + comment!;
  }
}
