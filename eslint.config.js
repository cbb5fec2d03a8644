import importPlugin from 'eslint-plugin-import';
import tseslint from 'typescript-eslint';
import { ownProperties } from './ops/lint/own-properties.js';
import { routeFunctions } from './ops/lint/route-functions.js';
import { routeMembers } from './ops/lint/route-members.js';

/** The layers or folders that each layer may import. Every other import between layers is refused. */
const layers = {
  domain: [],
  application: ['domain'],
  projections: ['domain', 'application/ports', 'application/concurrency', 'infrastructure/postgres'],
  infrastructure: ['application', 'domain'],
  api: ['application', 'projections', 'domain'],
};
/** The composition root and the command line wire the layers together, so they may import all of them. */
const roots = ['infrastructure/composition', 'infrastructure/cli'];
const names = Object.keys(layers);
/** What Node.js and browsers provide to scripts that are not TypeScript. */
const scriptGlobals = [
  'console',
  'document',
  'fetch',
  'location',
  'module',
  'Option',
  'process',
  'require',
  'setTimeout',
  'URL',
  'window',
];

/** Calls of TypeBox, as selectors of `no-restricted-syntax`. */
const TYPE_CALL = 'CallExpression[callee.object.name="Type"]';
const UNION = `${TYPE_CALL}[callee.property.name="Union"]`;
const LITERAL = `${TYPE_CALL}[callee.property.name="Literal"]`;

/** Holds for every folder of source code, the roots included. */
const toolZones = names.map((layer) => ({
  target: `./${layer}/**/*`,
  from: ['./test', './ops'],
  message: 'source code does not import tests or tools',
}));
const zones = names
  .flatMap((layer) => [
    ...names
      .filter((other) => other !== layer && !layers[layer].includes(other))
      .map((other) => ({
        target: [`./${layer}/**/*`],
        from: `./${other}`,
        except: layers[layer]
          .filter((allowed) => allowed.startsWith(`${other}/`))
          .map((allowed) => `.${allowed.slice(other.length)}`),
        message: `${layer}/ may import only ${layers[layer].join(', ') || 'itself'} (docs/architecture.md, Layers)`,
      })),
  ])
  .concat({
    target: './api/client/**/*',
    from: './',
    except: ['./api/client'],
    message: 'the client runs in browsers and imports only its own folder',
  });

export default tseslint.config(
  { ignores: ['**/dist', '**/dist/', '.cache/', '.palimpsest/', '**/node_modules/'] },
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.strictTypeChecked],
    plugins: { import: importPlugin },
    languageOptions: { parserOptions: { projectService: true } },
    settings: { 'import/resolver': { node: { extensions: ['.ts'] } }, 'import/extensions': ['.ts'] },
    rules: {
      '@typescript-eslint/consistent-type-definitions': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-unnecessary-condition': ['error', { allowConstantLoopConditions: true }],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-import-type-side-effects': 'error',
      'import/no-duplicates': ['error', { 'prefer-inline': true }],
      'import/order': [
        'error',
        {
          groups: [['builtin', 'external'], 'parent', 'sibling'],
          alphabetize: { order: 'asc' },
          // Members are sorted by name, types and values alike; capitals come before small letters.
          named: { enabled: true, types: 'mixed' },
          'newlines-between': 'never',
        },
      ],
      'import/no-cycle': ['error', { ignoreExternal: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      // Prettier formats code, and leaves comments and the text of templates as they are.
      'max-len': ['error', { code: 120, ignoreStrings: true, ignoreRegExpLiterals: true, ignoreUrls: true }],
      'no-console': 'error',
      'no-eval': 'error',
    },
  },
  {
    files: ['domain/**/*.ts', 'application/**/*.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: 'the clock is injected' },
        { object: 'Math', property: 'random', message: 'randomness is injected' },
      ],
    },
  },
  {
    files: ['domain/**/*.ts', 'application/**/*.ts', 'projections/**/*.ts', 'infrastructure/**/*.ts', 'api/**/*.ts'],
    ignores: roots.map((root) => `${root}/**/*.ts`),
    rules: { 'import/no-restricted-paths': ['error', { zones: [...zones, ...toolZones] }] },
  },
  {
    files: roots.map((root) => `${root}/**/*.ts`),
    rules: { 'import/no-restricted-paths': ['error', { zones: toolZones }] },
  },
  {
    files: ['domain/**/*.ts', 'application/**/*.ts', 'projections/**/*.ts', 'infrastructure/**/*.ts', 'api/**/*.ts'],
    ignores: ['domain/own-value.ts', 'api/client/**/*.ts'],
    plugins: { project: { rules: { 'own-properties': ownProperties } } },
    rules: { 'project/own-properties': 'error' },
  },
  {
    files: ['domain/**/*.ts', 'application/**/*.ts'],
    // `(input, context, dependencies)`
    rules: { 'max-params': ['error', 3] },
  },
  {
    files: ['api/**/*-routes.ts'],
    plugins: { routes: { rules: { 'members-in-order': routeMembers, 'one-form-of-functions': routeFunctions } } },
    rules: { 'routes/members-in-order': 'error', 'routes/one-form-of-functions': 'error' },
  },
  {
    files: ['api/**/*.ts'],
    ignores: ['api/http/schemas.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: `:matches(${UNION} > ArrayExpression, ${UNION} > CallExpression[callee.property.name="map"] > *) > ${LITERAL}`,
          message: 'use oneOf of api/http/schemas.ts',
        },
        {
          selector: `${TYPE_CALL}[callee.property.name="Unsafe"] > ObjectExpression > Property[key.name="enum"]`,
          message: 'use oneOf of api/http/schemas.ts',
        },
        {
          selector: `${UNION} > ArrayExpression[elements.length=2] > ${TYPE_CALL}[callee.property.name="Null"]`,
          message: 'use nullable of api/http/schemas.ts',
        },
      ],
    },
  },
  {
    files: ['**/*.ts'],
    ignores: [
      'infrastructure/outbound/**',
      'infrastructure/postgres/embedded/**',
      'test/**',
      'ops/**',
      'infrastructure/cli/**',
      'infrastructure/composition/**',
      'infrastructure/event-store/eventstoredb/**',
      'api/http/**',
      'api/client/**',
    ],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          paths: ['undici', 'http', 'https', 'net', 'node:http', 'node:https', 'node:net'].map((name) => ({
            name,
            message: 'outgoing requests go through infrastructure/outbound',
          })),
        },
      ],
      'no-restricted-globals': [
        'error',
        { name: 'fetch', message: 'outgoing requests go through infrastructure/outbound' },
      ],
    },
  },
  {
    files: ['test/**/*.ts', 'ops/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unused-expressions': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      'no-console': 'off',
    },
  },
  {
    files: ['**/*.js', '**/*.mjs', '**/*.cjs'],
    plugins: { import: importPlugin },
    languageOptions: { globals: Object.fromEntries(scriptGlobals.map((name) => [name, 'readonly'])) },
    rules: {
      eqeqeq: 'error',
      'import/no-duplicates': 'error',
      'max-len': ['error', { code: 10_000, comments: 120, ignoreUrls: true }],
      'no-const-assign': 'error',
      'no-dupe-keys': 'error',
      'no-eval': 'error',
      'no-undef': 'error',
      'no-unreachable': 'error',
      'no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-var': 'error',
      'prefer-const': 'error',
    },
  },
  { files: ['infrastructure/cli/**/*.ts'], rules: { 'no-console': 'off' } },
  {
    // The text of a released migration does not change, and tests contain texts that they compare.
    files: ['infrastructure/postgres/migrations/**/*.ts', 'test/**/*.ts'],
    rules: { 'max-len': ['error', { code: 10_000, comments: 120, ignoreUrls: true }] },
  },
  { files: ['api/client/generated/**/*.ts'], rules: { 'max-len': 'off' } },
);
