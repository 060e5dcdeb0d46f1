import { readdirSync } from 'node:fs';
import * as regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

/**
 * The rooms of the house in the order data flows. A file may import from its own room and from rooms above
 * it in this list, so that every dependency points one way and a room can be understood without the later ones.
 */
const ROOMS = [
  'domain',
  'files',
  'terminal',
  'config',
  'formats',
  'ingest',
  'queue',
  'normalize',
  'guard',
  'moderate',
  'sink',
  'runs',
  'guard-server',
  'cli',
];

/**
 * guard-server is the other side of the wire: it shares only the words, what prints them, the normal form of media and
 * the tensor codec with the client.
 */
const ONLY = { 'guard-server': ['domain', 'terminal', 'normalize', 'guard/tensors'] };

/** Libraries that one room alone knows. */
const LIBRARIES = [{ room: 'guard-server', regex: '^(nsfwjs|@tensorflow/.*)$' }];

const RANDOM = {
  object: 'Math',
  property: 'random',
  message: 'Take a random source as an argument (jitter excepted).',
};

const PRINT_LINES = 'Print lines with a LineWriter: it escapes what a foreign string could do to a terminal.';

/** What prints past the one place that escapes. */
const printing = {
  files: ['src/**/*.ts', 'workers/**/*.ts', 'bench/**/*.ts'],
  ignores: ['src/terminal/standard-streams.ts', 'src/terminal/silent-console.ts'],
  rules: {
    'no-console': 'error',
    'no-restricted-properties': [
      'error',
      RANDOM,
      ...['stdout', 'stderr'].map((property) => ({ object: 'process', property, message: PRINT_LINES })),
    ],
    'no-restricted-syntax': [
      'error',
      { selector: 'ImportDeclaration[source.value=/^(node:)?(process|console)$/]', message: PRINT_LINES },
    ],
  },
};

for (const entry of readdirSync('src', { withFileTypes: true })) {
  if (entry.isDirectory() && !ROOMS.includes(entry.name)) {
    throw new Error(`src/${entry.name} has no place in the order of rooms in eslint.config.js`);
  }
}

const direction = ROOMS.map((room, position) => {
  const forbidden = ROOMS.slice(position + 1);
  const above = ROOMS.slice(0, position).filter((name) => !(ONLY[room] ?? [name]).includes(name));
  const allowedInside = (ONLY[room] ?? []).filter((path) => path.includes('/'));
  const patterns = [
    {
      regex: `^(\\.\\./)+(${[...forbidden, 'workers', 'bench'].join('|')})/`,
      message: `src/${room} comes before these in the flow of data: imports point only up the list of rooms.`,
    },
  ];
  if (room !== 'normalize') {
    patterns.push({
      regex: '^sharp$',
      message: 'Only src/normalize knows sharp: images are decoded in one way (normalPixels, Normalizer).',
    });
  }
  if (above.length > 0) {
    const exceptions = allowedInside.map((path) => `(?!(\\.\\./)+${path}/)`).join('');
    patterns.push({
      regex: `^${exceptions}(\\.\\./)+(${above.join('|')})/`,
      message: `src/${room} shares only ${(ONLY[room] ?? []).join(' and ')}.`,
    });
  }
  for (const { room: owner, regex } of LIBRARIES) {
    if (owner !== room) patterns.push({ regex, message: `Only src/${owner} knows this library.` });
  }
  return {
    files: [`src/${room}/**/*.ts`],
    rules: { 'no-restricted-imports': ['error', { patterns }] },
  };
});
// The command line joins everything and may start the workers' entry points.
direction.at(-1).rules = {};

export default tseslint.config(
  { ignores: ['dist/**', 'node_modules/**', 'runs/**', '**/*.mjs', 'eslint.config.js'] },
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: { parserOptions: { project: './tsconfig.test.json' } },
    plugins: { regexp },
    rules: {
      // Every parser is linear in its input.
      'regexp/no-super-linear-backtracking': 'error',
      'regexp/no-super-linear-move': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      // An import of types alone would otherwise load its module.
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      'no-restricted-properties': ['error', RANDOM],
    },
  },
  printing,
  ...direction,
);
