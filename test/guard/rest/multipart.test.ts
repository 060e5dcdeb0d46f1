import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fileForm } from '../../../src/guard/rest/multipart.ts';

test.each([
  ['\x89PNG\r\n\x1a\nrest', 'item.png', 'image/png'],
  ['\xff\xd8\xff\xe0rest', 'item.jpg', 'image/jpeg'],
  ['RIFF....WEBPVP8 ', 'item.webp', 'image/webp'],
  ['GIF89a..', 'item.gif', 'image/gif'],
  ['MM\0*....', 'item.tiff', 'image/tiff'],
  ['RIFF....WAVEfmt ', 'item.wav', 'audio/wav'],
  ['....ftypM4A ', 'item.m4a', 'audio/mp4'],
  ['anything', 'item.bin', 'application/octet-stream'],
  ['', 'item.bin', 'application/octet-stream'],
])('%j is sent as %s', (bytes, name, type) => {
  const [head] = fileForm(Buffer.from(bytes, 'latin1')).chunks;
  expect(head!.toString()).toContain(`filename="${name}"\r\nContent-Type: ${type}\r\n`);
});

test('the Fetch API parses the form into exactly one file', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
      const { contentType, chunks } = fileForm(Buffer.from(bytes));
      const form = await new Response(Buffer.concat(chunks), {
        headers: { 'content-type': contentType },
      }).formData();
      expect([...form.keys()]).toEqual(['file']);
      const file = form.get('file') as File;
      expect(Buffer.from(await file.arrayBuffer()).equals(Buffer.from(bytes))).toBe(true);
    }),
    { numRuns: 30 },
  );
});
