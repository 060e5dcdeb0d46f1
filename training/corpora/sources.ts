/** A published data set that the model is trained or measured on. */
export interface DataSource {
  /** Values of the corpora's `source` field; a trailing `*` matches any ending. */
  readonly names: readonly string[];
  /** Its published name. */
  readonly title: string;
  /** On github.com. */
  readonly repository: string;
  readonly licence: string;
  /** arXiv number or venue of the paper to cite. */
  readonly paper: string | null;
}

type Row = readonly [names: string, title: string, repository: string, licence: string, paper: string | null];

const TABLE: readonly Row[] = [
  ['ailuminate-demo', 'AILuminate v1.0 demo prompts', 'mlcommons/ailuminate', 'CC-BY-4.0', '2503.05731'],
  [
    'ailuminate-demo-mt',
    'AILuminate v1.0 demo prompts, translated',
    'aiverify-foundation/moonshot-data',
    'CC-BY-4.0',
    '2503.05731',
  ],
  [
    'mlc-v0.5-hazard mlc-v0.5-typical',
    'MLCommons AI Safety v0.5',
    'aiverify-foundation/moonshot-data',
    'CC-BY-4.0',
    '2404.12241',
  ],
  ['harmbench', 'HarmBench', 'busycalibrating/AdversariaLLM', 'MIT', '2402.04249'],
  ['strongreject', 'StrongREJECT', 'busycalibrating/AdversariaLLM', 'MIT', '2402.10260'],
  ['jailbreakbench', 'JailbreakBench', 'andyrdt/refusal_direction', 'MIT', '2404.01318'],
  ['advbench', 'AdvBench', 'andyrdt/refusal_direction', 'MIT', '2307.15043'],
  ['catqa', 'CatQA', 'declare-lab/red-instruct', 'Apache-2.0', '2402.11746'],
  ['harmfulqa', 'HarmfulQA', 'declare-lab/red-instruct', 'Apache-2.0', '2308.09662'],
  ['coconot-*', 'CoCoNot', 'allenai/noncompliance', 'MIT', '2407.12043'],
  ['cyberseceval-*', 'CyberSecEval', 'meta-llama/PurpleLlama', 'MIT', '2312.04724, 2404.13161'],
  ['toxigen-*', 'ToxiGen demonstrations', 'microsoft/TOXIGEN', 'CDLA-Permissive-2.0', '2203.09509'],
  ['edos', 'EDOS', 'rewire-online/edos', 'CC0-1.0', '2303.04222'],
  [
    'davidson-*',
    'Hate speech and offensive language (tweets)',
    't-davidson/hate-speech-and-offensive-language',
    "MIT; the tweets are under X's terms",
    '1703.04009',
  ],
  [
    'stormfront-hate',
    'Hate speech from a white supremacist forum',
    'Vicomtech/hate-speech-dataset',
    'CC-BY-SA-3.0-ES',
    '1809.04444',
  ],
  [
    'multilingual-hatecheck',
    'Multilingual HateCheck',
    'rewire-online/multilingual-hatecheck',
    'CC-BY-4.0',
    '2206.09917',
  ],
  ['sghatecheck', 'SGHateCheck', 'aiverify-foundation/moonshot-data', 'MIT', '2405.01842'],
  ['kosbi', 'KoSBi', 'naver-ai/korean-safety-benchmarks', 'MIT', '2305.17701'],
  ['clinc-oos', 'CLINC150', 'clinc/oos-eval', 'CC-BY-3.0', '1909.02027'],
  ['banking77', 'BANKING77', 'PolyAI-LDN/task-specific-datasets', 'CC-BY-4.0', '2003.04807'],
  [
    'nq-open',
    'NQ-Open',
    'google-research-datasets/natural-questions',
    'Apache-2.0; Natural Questions: CC-BY-SA-3.0',
    'TACL 2019',
  ],
  ['gsm8k', 'GSM8K', 'openai/grade-school-math', 'MIT', '2110.14168'],
  ['self-instruct-*', 'Self-Instruct', 'yizhongw/self-instruct', 'Apache-2.0', '2212.10560'],
  ['fastchat-bench', 'MT-Bench and Vicuna-Bench', 'declare-lab/red-instruct', 'Apache-2.0', '2306.05685'],
  ['truthfulqa', 'TruthfulQA', 'aiverify-foundation/moonshot-data', 'Apache-2.0', '2109.07958'],
  ['pubmedqa', 'PubMedQA', 'aiverify-foundation/moonshot-data', 'MIT', '1909.06146'],
  ['arc-easy', 'ARC-Easy', 'aiverify-foundation/moonshot-data', 'CC-BY-SA', '1803.05457'],
  ['xquad-*', 'XQuAD', 'google-deepmind/xquad', 'CC-BY-SA-4.0', '1910.11856'],
  [
    'ewt-* english-ewt',
    'UD English-EWT',
    'UniversalDependencies/UD_English-EWT',
    'CC-BY-SA-4.0',
    'LREC 2014',
  ],
  [
    'sgd-*',
    'Schema-Guided Dialogue',
    'google-research-datasets/dstc8-schema-guided-dialogue',
    'CC-BY-SA-4.0',
    '1909.05855',
  ],
  ['awesome-prompts', 'awesome-chatgpt-prompts', 'f/awesome-chatgpt-prompts', 'CC0-1.0', null],
  [
    'wiki-comments',
    'Wikipedia talk-page comments (Jigsaw sample)',
    'unitaryai/detoxify',
    'Apache-2.0; comments: CC-BY-SA-3.0',
    null,
  ],
  [
    'ud-pud',
    'UD Parallel treebanks, French, Indonesian, Japanese',
    'UniversalDependencies/UD_French-PUD, UD_Indonesian-PUD, UD_Japanese-PUD',
    'CC-BY-SA-3.0',
    'CoNLL 2017',
  ],
  ['ud-seraji', 'UD Persian-Seraji', 'UniversalDependencies/UD_Persian-Seraji', 'CC-BY-SA-4.0', null],
  ['ud-cantonese-hk', 'UD Cantonese-HK', 'UniversalDependencies/UD_Cantonese-HK', 'CC-BY-SA-4.0', null],
  ['fortune-*', 'fortune-mod', 'shlomif/fortune-mod', 'BSD', null],
  ['nltk-masc_tagged', 'MASC', 'nltk/nltk_data', 'unrestricted', null],
  [
    'nltk-product_reviews_1 nltk-pros_cons',
    'Product reviews, pros and cons',
    'nltk/nltk_data',
    'CC-BY-4.0',
    null,
  ],
  ['nltk-state_union', 'State of the Union addresses', 'nltk/nltk_data', 'public domain', null],
  ['rtp-*', 'RealToxicityPrompts', 'allenai/real-toxicity-prompts', 'Apache-2.0', '2009.11462'],
  ['xcopa', 'XCOPA', 'cambridgeltl/xcopa', 'CC-BY-4.0', '2005.00333'],
];

export const DATA_SOURCES: readonly DataSource[] = TABLE.map(
  ([names, title, repository, licence, paper]) => ({
    names: names.split(' '),
    title,
    repository,
    licence,
    paper,
  }),
);

/** The data set of a row's `source`; undefined for an unknown source. */
export function dataSourceOf(source: string): DataSource | undefined {
  return DATA_SOURCES.find(({ names }) =>
    names.some((name) => (name.endsWith('*') ? source.startsWith(name.slice(0, -1)) : source === name)),
  );
}
