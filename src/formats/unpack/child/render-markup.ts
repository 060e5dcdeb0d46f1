import { Parser } from 'htmlparser2';
import { TextFlow } from './text-flow.ts';
import { sentencesIn } from './word-runs.ts';

/** Content of a page or a drawing. */
export interface Rendered {
  /** The rendered text, including text that replaces or explains images and fields. */
  readonly text: string;
  /** Text that a reader does not see. */
  readonly hidden: string;
  /** `data:` URLs of any kind. */
  readonly urls: readonly string[];
  /** Pages inside it. */
  readonly pages: readonly string[];
  /** Whether shapes are drawn, which may depict anything. */
  readonly isDrawn: boolean;
}

const names = (list: string): ReadonlySet<string> => new Set(list.split(' '));

/** Elements that begin and end a line (HTML Standard, 15.3), and SVG elements that position a text. */
const BLOCKS = names(
  'address article aside blockquote body br caption center dd desc details dialog dir div dl dt fieldset figcaption ' +
    'figure footer form h1 h2 h3 h4 h5 h6 head header hr html legend li main menu meta nav ol optgroup option p ' +
    'plaintext pre search section summary table tbody text textarea tfoot thead title tr ul xmp listing',
);
const CELLS = names('td th button input select img');
const KEEPS_SPACE = names('pre textarea listing plaintext xmp');
const CODE = names('script style');
const HIDDEN = names('template iframe noframes noembed metadata');
/** Elements that some programs show and others do not. */
const SHOWN_BY_SOME = names('noscript');
const SHAPES = names('path rect circle ellipse polygon polyline line use');

const INLINE_ATTRIBUTES = ['alt', 'value', 'placeholder', 'label'];
const ASIDE_ATTRIBUTES = ['title', 'aria-label', 'aria-description', 'summary'];
const HIDING_STYLE =
  /(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|(?:font-size|opacity)\s*:\s*(?:0+(?:\.0*)?|\.0+)(?:[a-z]+|%)?\s*(?:[;!]|$)|mso-hide\s*:\s*all)/i;
/** Metadata that search engines and previews show. */
const DESCRIPTION = /title|description|keywords|author|subject|abstract/i;
const DATA_URL = /data:[^"'()\s,<>]*,[^"'()\s<>]*/gi;
/** Declarations without content of their own. */
const DECLARATION = /^(?:!doctype|\?xml)\b[^[]*$/i;
/** Markers around the content of a conditional comment, which some programs read. */
const CONDITION = /^\[if\b[^\]]*\]>|<!\[endif\]$/gi;

type Visibility = 'shown' | 'hidden' | 'both';

interface Open {
  readonly name: string;
  readonly visibility: Visibility;
  readonly keepsSpace: boolean;
  readonly isDrawing: boolean;
}

/** Renders HTML, XHTML or SVG without its style sheets: text that they hide or show is read as if it were shown. */
export function renderMarkup(markup: string): Rendered {
  return new Rendering(false).read(markup);
}

class Rendering {
  readonly #text = new TextFlow();
  readonly #hidden = new TextFlow();
  readonly #asides: string[] = [];
  readonly #urls: string[] = [];
  readonly #pages: string[] = [];
  readonly #isComment: boolean;
  #open: Open[] = [];
  #isDrawn = false;

  constructor(isComment: boolean) {
    this.#isComment = isComment;
  }

  read(markup: string): Rendered {
    const parser = new Parser(
      {
        onopentag: (name, attributes) => this.#begin(name.toLowerCase(), attributes),
        onclosetag: () => this.#end(),
        ontext: (text) => this.#write(text),
        oncomment: (text) => this.#comment(text),
        onprocessinginstruction: (_name, text) => this.#comment(text),
      },
      // Both are recognised, so neither hides the text that follows.
      { recognizeSelfClosing: true, recognizeCDATA: true },
    );
    parser.end(markup);
    for (const aside of new Set(this.#asides)) {
      this.#text.breakLine();
      this.#text.write(aside);
    }
    return {
      text: this.#text.toString(),
      hidden: this.#hidden.toString(),
      urls: this.#urls,
      pages: this.#pages,
      isDrawn: this.#isDrawn,
    };
  }

  get #top(): Open | undefined {
    return this.#open.at(-1);
  }

  #begin(name: string, attributes: Readonly<Record<string, string>>): void {
    const around = this.#top;
    const visibility = visibilityOf(name, attributes, around);
    const isDrawing = name === 'svg' || (around?.isDrawing ?? false);
    const keepsSpace = KEEPS_SPACE.has(name) || (around?.keepsSpace ?? false);
    if (visibility !== 'shown' && around?.visibility !== visibility) this.#hidden.breakLine();
    this.#open.push({ name, visibility, keepsSpace, isDrawing });
    if (isDrawing && SHAPES.has(name)) this.#isDrawn = true;
    this.#separate(name);
    for (const [key, value] of Object.entries(attributes)) this.#attribute(key.toLowerCase(), value);
    const { name: property, property: other, content } = attributes;
    if (name === 'meta' && DESCRIPTION.test(property ?? other ?? '')) this.#hide(content ?? '');
    for (const key of INLINE_ATTRIBUTES) if (attributes[key]) this.#write(` ${attributes[key]} `);
  }

  #end(): void {
    const closed = this.#open.pop();
    if (closed !== undefined) this.#separate(closed.name);
  }

  #separate(name: string): void {
    for (const flow of [this.#text, this.#hidden]) {
      if (BLOCKS.has(name)) flow.breakLine();
      else if (CELLS.has(name)) flow.write(' ');
    }
  }

  #attribute(key: string, value: string): void {
    if (ASIDE_ATTRIBUTES.includes(key)) this.#asides.push(value);
    if (key === 'srcdoc') this.#pages.push(value);
    else if (/^\s*data:/i.test(value) && !/srcset$/.test(key)) this.#urls.push(value.trim());
    else this.#findUrls(value);
  }

  #write(text: string): void {
    const { name = '', visibility = 'shown', keepsSpace = false } = this.#top ?? {};
    if (CODE.has(name)) {
      this.#findUrls(text);
      for (const sentence of sentencesIn(text)) this.#hide(sentence);
      return;
    }
    if (visibility !== 'hidden') this.#text.write(text, keepsSpace);
    if (visibility !== 'shown') this.#hidden.write(text, keepsSpace);
  }

  /**
   * A comment may contain markup for some programs; a comment inside a comment is text. Unknown declarations are
   * treated as comments.
   */
  #comment(text: string): void {
    if (DECLARATION.test(text)) return;
    if (this.#isComment || !text.includes('<')) this.#hide(text);
    else {
      const inside = new Rendering(true).read(text.replace(CONDITION, ''));
      for (const each of [inside.text, inside.hidden]) this.#hide(each, true);
      this.#urls.push(...inside.urls);
      this.#pages.push(...inside.pages);
      this.#isDrawn ||= inside.isDrawn;
    }
  }

  #hide(text: string, keepsSpace = false): void {
    this.#hidden.breakLine();
    this.#hidden.write(text, keepsSpace);
    this.#hidden.breakLine();
  }

  #findUrls(text: string): void {
    for (const [url] of text.matchAll(DATA_URL)) this.#urls.push(url);
  }
}

function visibilityOf(
  name: string,
  attributes: Readonly<Record<string, string>>,
  around: Open | undefined,
): Visibility {
  if (around?.visibility === 'hidden') return 'hidden';
  const isHidden =
    HIDDEN.has(name) ||
    // Browsers may end the code before an element in it.
    CODE.has(around?.name ?? '') ||
    'hidden' in attributes ||
    (name === 'input' && attributes['type']?.toLowerCase() === 'hidden') ||
    attributes['display'] === 'none' ||
    attributes['visibility'] === 'hidden' ||
    HIDING_STYLE.test(attributes['style'] ?? '');
  if (isHidden) return 'hidden';
  if (SHOWN_BY_SOME.has(name) || attributes['aria-hidden'] === 'true') return 'both';
  return around?.visibility ?? 'shown';
}
