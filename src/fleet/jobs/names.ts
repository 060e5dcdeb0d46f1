/** Texts that many items of a job share: each travels once, and rows name it by its index in the list. */
export class Names {
  readonly list: string[] = [];
  readonly #places = new Map<string, number>();

  place(text: string): number {
    let place = this.#places.get(text);
    if (place === undefined) {
      place = this.list.push(text) - 1;
      this.#places.set(text, place);
    }
    return place;
  }

  placeOrNull(text: string | null): number | null {
    return text === null ? null : this.place(text);
  }
}

/** The text at an index. Throws when there is none: the job is then unreadable. */
export function named(list: readonly string[], place: number): string {
  const text = list[place];
  if (text === undefined) throw new Error('a job names a text that did not come with it');
  return text;
}

export function namedOrNull(list: readonly string[], place: number | null): string | null {
  return place === null ? null : named(list, place);
}
