import type { LabelledText } from './corpus.ts';

/** Sources of one kind, left out of a training together and judged by the network that has not seen them. */
interface LeftOutSources {
  readonly title: string;
  /** Values of a text's `source`; a trailing `*` matches any ending. */
  readonly sources: readonly string[];
}

/** Kinds of one entry are left out of the same training. */
export const LEFT_OUT: readonly (readonly LeftOutSources[])[] = [
  [
    {
      title: 'posts: EDOS, tweets, forum, talk pages',
      sources: ['edos', 'davidson-*', 'stormfront-hate', 'wiki-comments'],
    },
    { title: 'CatQA', sources: ['catqa'] },
    { title: 'RealToxicityPrompts', sources: ['rtp-*'] },
  ],
  [
    { title: 'AILuminate prompts', sources: ['ailuminate-*'] },
    { title: 'ToxiGen, HateCheck', sources: ['toxigen-*', 'multilingual-hatecheck', 'sghatecheck'] },
    {
      title: 'prose: fortunes, MASC, reviews, speeches, EWT',
      sources: ['fortune-*', 'nltk-*', 'english-ewt', 'ewt-*'],
    },
  ],
];

/** Whether a text comes from one of these sources. */
export function isFrom({ source }: LabelledText, sources: readonly string[]): boolean {
  return sources.some((name) =>
    name.endsWith('*') ? source.startsWith(name.slice(0, -1)) : source === name,
  );
}
