import { useState } from 'preact/hooks';
import { escapeText } from '../../../src/domain/text/escape-text.ts';
import { Button } from './button.tsx';
import { count } from './format.ts';

/** Longest name that is held at all: in the title of one that is cut. */
const MAX_TITLE = 1000;

interface Props {
  readonly text: string;
  /** In characters. */
  readonly max?: number;
  /** In the font of code: paths, ids, hashes. */
  readonly code?: boolean;
}

/** A string from a record or a file system: control and bidirectional characters are escaped, its length is bounded. */
export function UntrustedText({ text, max = 80, code = false }: Props) {
  const title = text.length > max ? escapeText(text, MAX_TITLE) : undefined;
  return (
    <bdi class={code ? 'foreign code' : 'foreign'} title={title}>
      {escapeText(text, max)}
    </bdi>
  );
}

/** The end of a path gives way only after all that is before it: the name of its file, of a long one the end. */
const PATH = /^(.*?)([^/]{0,28})$/su;

/** A path of a file: where it has no room, its beginning gives way before its end. */
export function FilePath({ text }: { readonly text: string }) {
  const path = escapeText(text, MAX_TITLE);
  const [, start = '', end] = PATH.exec(path)!;
  return (
    <bdi class="file-path" title={path}>
      {start !== '' && <span>{start}</span>}
      <span>{end}</span>
    </bdi>
  );
}

interface Place {
  readonly path: string;
  readonly row: number | null;
  readonly part: string | null;
  readonly turn: number | null;
}

/** An item's location: its file, and its row in the file. */
export function ItemPlace({ path, row, part, turn }: Place) {
  const inFile = [
    row === null ? '' : `, row ${count(row)}`,
    part === null ? '' : `, ${escapeText(part)}`,
    turn === null ? '' : `, turn ${turn}`,
  ].join('');
  return (
    <span class="place">
      <FilePath text={path} />
      {inFile !== '' && <bdi>{inFile}</bdi>}
    </span>
  );
}

/** A shell command to copy into a terminal. */
export function Command({ text }: { readonly text: string }) {
  return (
    <p>
      <code class="command">
        <UntrustedText text={text} max={2000} />
      </code>
    </p>
  );
}

/** An untrusted text that is cut if it is long, with a button that shows all of it. */
export function WholeUntrustedText({ text, max = 200 }: { readonly text: string; readonly max?: number }) {
  const [whole, setWhole] = useState(false);
  return (
    <>
      <UntrustedText text={text} max={whole ? text.length : max} />
      {text.length > max && (
        <Button kind="quiet" class="whole" onClick={() => setWhole(!whole)}>
          {whole ? 'Show less' : `Show all ${count(text.length)} characters`}
        </Button>
      )}
    </>
  );
}
