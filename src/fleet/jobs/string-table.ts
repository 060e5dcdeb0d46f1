/** Texts that items of a job share: each is encoded once, and rows refer to it by its index. */
export class StringTable {
  readonly list: string[] = [];
  readonly #indexes = new Map<string, number>();

  /** The index of a text, which is added if it is new. */
  index(text: string): number {
    let index = this.#indexes.get(text);
    if (index === undefined) {
      index = this.list.push(text) - 1;
      this.#indexes.set(text, index);
    }
    return index;
  }

  indexOrNull(text: string | null): number | null {
    return text === null ? null : this.index(text);
  }
}

/** The text at an index. Throws when there is none: the job is then unreadable. */
export function textAt(list: readonly string[], index: number): string {
  const text = list[index];
  if (text === undefined) throw new Error('a job refers to a text that is not in its string table');
  return text;
}

export function textAtOrNull(list: readonly string[], index: number | null): string | null {
  return index === null ? null : textAt(list, index);
}
