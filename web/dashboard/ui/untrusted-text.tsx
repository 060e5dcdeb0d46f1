import { useState } from 'preact/hooks';
import { escapeText } from '../../../src/domain/text/escape-text.ts';
import { Button } from './button.tsx';
import { count } from './format.ts';

/** Maximum length of a name in the title of a truncated one. */
const MAX_TITLE = 1000;

interface Props {
  readonly text: string;
  /** Maximum length in characters. */
  readonly max?: number;
  /** Uses a monospace font, for paths, ids, hashes. */
  readonly code?: boolean;
}

/** A string from a record or a file system: control and bidirectional characters are escaped, its length is limited. */
export function UntrustedText({ text, max = 80, code = false }: Props) {
  const title = text.length > max ? escapeText(text, MAX_TITLE) : undefined;
  return (
    <bdi class={code ? 'foreign code' : 'foreign'} title={title}>
      {escapeText(text, max)}
    </bdi>
  );
}

/** Splits off the end of a path, which is truncated last: the file name, or the end of a long one. */
const PATH = /^(.*?)([^/]{0,28})$/su;

/** A file path. If space is short, its beginning is truncated before its end. */
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

/** An untrusted text that is truncated if it is long, with a button that shows all of it. */
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
