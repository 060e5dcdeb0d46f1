import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
// Plain JavaScript, which has no types.
const configuration = join(root, 'eslint.config.js');
const { ROOMS } = (await import(configuration)) as { readonly ROOMS: readonly string[] };

const read = (name: string): string => readFileSync(join(root, name), 'utf8');

/** Folders directly below one of the project's folders, sorted. */
const foldersOf = (path: string): string[] =>
  readdirSync(join(root, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();

/** The rows of the table of rooms: its name, and the folders in it that the table names. */
function documentedRooms(): { room: string; folders: string[] }[] {
  const [table] = /\| room [^]*?\n\n/.exec(read('docs/architecture.md'))!;
  return [...table.matchAll(/^\| `([a-z-]+)` *\|[^|]*\|([^|]*)\|$/gm)].map(([, room, folders]) => ({
    room: room!,
    folders: [...folders!.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name!),
  }));
}

it('the linter knows every room, and no other', () => {
  expect([...ROOMS].sort()).toEqual(foldersOf('src'));
});

it('the architecture page lists the rooms in their order, with the folders that are in them', () => {
  const documented = documentedRooms();
  expect(documented.map(({ room }) => room)).toEqual(ROOMS);
  // A folder of data is no part of a room's plan.
  const data = ['weights'];
  for (const { room, folders } of documented) {
    const there = foldersOf(`src/${room}`).filter((name) => !data.includes(name));
    // A room without a plan of its folders has none, or one that speaks for itself.
    if (folders.length > 0) expect(folders.sort(), room).toEqual(there);
    else expect(there.length, room).toBeLessThan(2);
  }
});

it('CONTRIBUTING lists the rooms in their order', () => {
  const [, list] = /in the order data flows:([^.]*)\./.exec(read('CONTRIBUTING.md'))!;
  expect(list!.split(',').map((name) => name.trim())).toEqual(ROOMS);
});
