import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';

const docs = new URL('../../docs', import.meta.url).pathname;
const read = (path: string): string => readFileSync(join(docs, path), 'utf8');

/** The sections of a page: their headings, and their entries: what each begins with in bold, its text, and its second level. */
function sectionsOf(page: string): { heading: string; rows: string[][] }[] {
  return page
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const entries = section.split(/\n(?=- \*\*|\n)/).filter((entry) => entry.startsWith('- **'));
      const rows = entries.map((entry) => {
        const [own, ...below] = entry.split('\n  - ').map((part) => part.replaceAll(/\n */g, ' ').trim());
        const [, name, text] = /^- \*\*(.+?)(?::\*\*|\*\*) (.*)$/.exec(own!)!;
        return [name!, text!, ...below];
      });
      return { heading: section.split('\n', 1)[0]!, rows };
    });
}

/** The anchor of a heading, as GitHub makes it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}

function anchorsOf(page: string): string[] {
  return [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading!));
}

/** Whether a source file has a test or a suite with this title: the first argument of a call, before a function. */
function hasTitle(source: string, title: string): boolean {
  const written = title.replaceAll("'", String.raw`\'`);
  return ["'", '"', '`'].some((quote) =>
    [title, written].some((text) =>
      source
        .split(`${quote}${text}${quote},`)
        .slice(0, -1)
        .some((before) => /\(\s*$/.test(before)),
    ),
  );
}

const sections = sectionsOf(read('contract.md'));
const rows = sections.flatMap((section) => section.rows);

/** Open points by the anchor of their section. */
const decisions = new Map(
  sectionsOf(read('contract-decisions.md')).map((section) => [
    anchorOf(section.heading),
    section.rows.map(([point]) => point!),
  ]),
);

test('statements are numbered by their section, without gaps', () => {
  const expected = sections.flatMap((section, part) =>
    section.rows.map((_, index) => `C-${part + 1}${String(index + 1).padStart(2, '0')}`),
  );
  expect(rows.map(([id]) => id)).toEqual(expected);
  expect(sections).toHaveLength(9);
});

/** The links of a proof: to a file, perhaps to an anchor in it, and what is quoted behind it. */
function linksOf(proof: string): { path: string; anchor: string | null; quoted: string }[] {
  return [...proof.matchAll(/\]\(([^)#]*)(?:#([^)]*))?\)(?: ")?/g)].map(
    ({ index, 0: whole, 1: path, 2: anchor }) => ({
      path: path!,
      anchor: anchor ?? null,
      quoted: proof.slice(index + whole.length),
    }),
  );
}

describe.each(rows)('%s %s', (...cells) => {
  const proof = cells[2]!;
  const links = linksOf(proof);

  it('has a proof, a decision or a reason', () => {
    expect(cells).toHaveLength(3);
    const isKept = links.some(({ path }) => path.startsWith('../test/') || path === 'contract-decisions.md');
    expect(isKept || /^Not (?:ours|implemented): \w/.test(proof), proof).toBe(true);
  });

  it('names only what is there', () => {
    for (const { path, anchor, quoted } of links) {
      const name = `${path} ${quoted.slice(0, 80)}`;
      expect(existsSync(join(docs, path)), name).toBe(true);
      if (anchor !== null) expect(anchorsOf(read(path)), name).toContain(anchor);
      if (path.startsWith('../test/')) {
        expect(hasTitle(read(path), quoted.slice(0, quoted.indexOf('"'))), name).toBe(true);
      }
      if (path === 'contract-decisions.md') {
        const points = decisions.get(anchor!) ?? [];
        // An open point may hold quotes itself.
        expect(
          points.some((point) => quoted.startsWith(`${point}"`)),
          name,
        ).toBe(true);
      }
    }
  });
});
