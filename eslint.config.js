import { readdirSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import * as regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

/**
 * The rooms of the house in the order data flows. A file may import from its own room and from rooms above
 * it in this list, so that every dependency points one way and a room can be understood without the later ones.
 */
export const ROOMS = [
  'domain',
  'files',
  'flow',
  'confinement',
  'terminal',
  'config',
  'metrics',
  'formats',
  'ingest',
  'store',
  'queue',
  'normalize',
  'guard',
  'moderate',
  'record',
  'analysis',
  'sink',
  'runs',
  'fleet',
  'report',
  'http',
  'guard-server',
  'guard-setup',
  'preflight',
  'gateway',
  'dashboard',
  'library',
  'cli',
];

/** Folders next to `src`, with the parts of the house that each may import. */
const BESIDE = {
  workers: ROOMS.slice(0, ROOMS.indexOf('guard-server')),
  training: ['domain', 'terminal', 'guard-server/lite'],
  bench: [
    ...[
      'domain',
      'files',
      'terminal',
      'config',
      'store',
      'normalize',
      'guard/tensors',
      'record',
      'guard-server',
      'dashboard',
    ],
    ...['training'],
  ],
  web: ['domain', 'dashboard/api', 'report/html'],
};

/**
 * guard-server is the other side of the wire: it shares only the words, what prints them, the normal form of media and
 * the tensor codec with the client. http is for any server.
 */
const SHARED = ['domain', 'terminal', 'normalize', 'guard/tensors'];
const ONLY = {
  store: ['domain', 'files', 'flow'],
  http: ['domain'],
  'guard-server': [...SHARED, 'http'],
};

/** Moderation streams, as every server of them has them. */
const STREAMS = { 'http/streams': ['domain', 'guard/tensors', 'http'] };

/** Folders of guard-server: the contract, its batching and the models know no transport. */
const GUARD_SERVER = {
  'guard-server/contract': SHARED,
  'guard-server/batching': [...SHARED, 'guard-server/contract'],
  'guard-server/lite-image': [...SHARED, 'guard-server/contract'],
  'guard-server/lite': [...SHARED, 'guard-server/contract', 'guard-server/lite-image'],
  'guard-server/features': SHARED,
  'guard-server/synthetic': [...SHARED, 'guard-server/contract', 'guard-server/features'],
  'guard-server/service': [...SHARED, 'http/streams', 'guard-server/contract', 'guard-server/batching'],
  'guard-server/streams': [...SHARED, 'http/streams', 'guard-server/contract', 'guard-server/service'],
  'guard-server/grpc': [
    ...[...SHARED, 'http', 'guard-server/contract', 'guard-server/service', 'guard-server/streams'],
  ],
};

/** Libraries that only these places may import. */
const LIBRARIES = [
  { places: ['guard', 'guard-server/grpc'], name: /^@grpc\// },
  { places: ['guard/websocket', 'http/streams'], name: /^ws$/ },
  { places: ['normalize'], name: /^sharp$/ },
  { places: ['store'], name: /^lmdb$/ },
  { places: ['formats/parquet/child', 'analysis', 'dashboard'], name: /^@duckdb\// },
];

const RANDOM = {
  object: 'Math',
  property: 'random',
  message: 'Take a random source as an argument (jitter excepted).',
};

const PRINT_LINES = 'Print lines with a LineWriter: it escapes what a foreign string could do to a terminal.';

/** Forbids printing except through the one place that escapes. */
const printing = {
  files: ['src/**/*.ts', 'workers/**/*.ts', 'bench/**/*.ts', 'training/**/*.ts'],
  // The last answers a process of ours, in JSON.
  ignores: [
    'src/terminal/standard-streams.ts',
    'src/terminal/silent-console.ts',
    'src/confinement/serve-lines.ts',
  ],
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

/** Every command is loaded for `help` and `--version`: what it does is loaded when it runs. */
const commands = {
  files: ['src/cli/commands/**', 'src/cli/program.ts', 'src/cli/run-cli.ts'],
  rules: {
    '@typescript-eslint/no-restricted-imports': [
      'error',
      {
        patterns: [
          {
            regex: `^\\.\\./\\.\\./(${['analysis', 'dashboard', 'fleet', 'formats', 'gateway', 'guard', 'guard-server', 'ingest', 'normalize', 'preflight', 'queue', 'record', 'report', 'runs/(?!control/)', 'sink', 'store'].join('|')})/`,
            allowTypeImports: true,
            message: 'Import it in the action: every command is loaded for help.',
          },
        ],
      },
    ],
  },
};

/** Pages show untrusted content, and share only types with the server, which do not reach the bundle. */
const pages = {
  files: ['web/**/*.ts', 'web/**/*.tsx'],
  languageOptions: { parserOptions: { project: './web/tsconfig.json' } },
  rules: {
    'no-console': 'error',
    '@typescript-eslint/no-restricted-imports': [
      'error',
      {
        patterns: [
          {
            group: ['**/src/dashboard/**', '**/src/report/**'],
            allowTypeImports: true,
            message: 'Import types only: the pages get none of the server.',
          },
        ],
      },
    ],
  },
};

/** The report alone embeds markup: the SVG that its charts are rendered to. */
const escaping = {
  files: ['web/dashboard/**', 'web/ui/**'],
  rules: {
    'no-restricted-syntax': [
      'error',
      ...[
        "JSXAttribute[name.name='dangerouslySetInnerHTML']",
        "MemberExpression[property.name='innerHTML']",
        "MemberExpression[property.name='outerHTML']",
        "CallExpression[callee.property.name='insertAdjacentHTML']",
      ].map((selector) => ({ selector, message: 'Render elements: markup from a string is not escaped.' })),
    ],
  },
};

for (const entry of readdirSync('src', { withFileTypes: true })) {
  if (entry.isDirectory() && !ROOMS.includes(entry.name)) {
    throw new Error(`src/${entry.name} has no place in the order of rooms in eslint.config.js`);
  }
}

/**
 * Imports allowed to each room, and to each folder next to `src`, besides its own files. A room is named by its folder
 * under `src`; a subfolder of a room that is listed here has its own line.
 */
const MAY_IMPORT = {
  ...Object.fromEntries(ROOMS.map((room, position) => [room, ONLY[room] ?? ROOMS.slice(0, position)])),
  ...STREAMS,
  ...GUARD_SERVER,
  ...BESIDE,
};
// The command line joins everything and starts the workers' entry points.
MAY_IMPORT.cli = [...MAY_IMPORT.cli, 'workers'];

const inside = (path, folder) => path === folder || path.startsWith(`${folder}/`);

/** The path of a file in the house: relative to `src`, or else to the project's folder. */
const housePath = (path) => relative(import.meta.dirname, path).replace(/^src\//, '');

/** Reports an import that a room may not have: imports point one way. */
const direction = {
  meta: {
    type: 'problem',
    schema: [],
    messages: { up: '{{room}} may not import {{place}}: imports point only up the list of rooms.' },
  },
  create(context) {
    const [folder, subfolder] = housePath(context.filename).split('/');
    const room = `${folder}/${subfolder}` in MAY_IMPORT ? `${folder}/${subfolder}` : folder;
    const allowed = MAY_IMPORT[room];
    if (allowed === undefined) return {};
    const check = ({ source }) => {
      if (typeof source?.value !== 'string' || !source.value.startsWith('.')) return;
      const place = housePath(resolve(dirname(context.filename), source.value));
      if ([room, ...allowed].some((folder) => inside(place, folder))) return;
      context.report({ node: source, messageId: 'up', data: { room, place } });
    };
    return {
      ImportDeclaration: check,
      ImportExpression: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      TSImportType: check,
    };
  },
};

/** Reports an import of a library outside of the rooms that may know it. */
const libraries = {
  meta: {
    type: 'problem',
    schema: [],
    messages: { unknown: 'Only {{places}} may import {{library}}.' },
  },
  create(context) {
    const here = housePath(context.filename);
    const check = ({ source }) => {
      const library = source?.value;
      if (typeof library !== 'string') return;
      const known = LIBRARIES.find(({ name }) => name.test(library));
      if (known === undefined || known.places.some((place) => inside(here, place))) return;
      context.report({
        node: source,
        messageId: 'unknown',
        data: { places: known.places.join(' and '), library },
      });
    };
    return {
      ImportDeclaration: check,
      ImportExpression: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      TSImportType: check,
    };
  },
};

/** Undocumented members of libraries. */
const UNDOCUMENTED = new Set(['deadlineTimer']);

/**
 * Reports uses of the inside of a library, which make upgrades hard: a file that the package does not export under its own
 * name, or a private member.
 */
const internals = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      path: 'This is the inside of a package: import what it exports.',
      member: 'This is a private member of a library: use what it documents.',
    },
  },
  create(context) {
    const checkPath = (node, path) => {
      if (typeof path === 'string' && /^[^.#/].*\/(?:dist|lib|src|build|cjs|esm)\//.test(path)) {
        context.report({ node, messageId: 'path' });
      }
    };
    const checkMember = (node, name) => {
      if (typeof name === 'string' && (/^_[a-z]/.test(name) || UNDOCUMENTED.has(name))) {
        context.report({ node, messageId: 'member' });
      }
    };
    return {
      ImportDeclaration: (node) => checkPath(node, node.source.value),
      ImportExpression: (node) => checkPath(node, node.source.value),
      'CallExpression[callee.name=/^require/]': (node) => checkPath(node, node.arguments[0]?.value),
      MemberExpression: (node) => checkMember(node, node.property.name ?? node.property.value),
      'ObjectPattern > Property': (node) => checkMember(node, node.key.name),
    };
  },
};

export default tseslint.config(
  {
    ignores: [
      'dist/**',
      'node_modules/**',
      'runs/**',
      'src/guard-server/weights/**',
      '**/*.mjs',
      'eslint.config.js',
      'src/normalize/image/wasm/**',
    ],
  },
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: { parserOptions: { project: './tsconfig.test.json' } },
    plugins: { regexp, house: { rules: { direction, libraries, internals } } },
    rules: {
      'house/direction': 'error',
      // Every parser is linear in its input.
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential' }],
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
  commands,
  pages,
  escaping,
  {
    files: ['src/**/*.ts', 'workers/**/*.ts'],
    rules: { 'house/libraries': 'error', 'house/internals': 'error' },
  },
);
