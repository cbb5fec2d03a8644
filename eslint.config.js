import importPlugin from 'eslint-plugin-import';
import tseslint from 'typescript-eslint';

/** Which floor may import which (the third column of the house's table): everything else is refused. */
const floors = {
  domain: [],
  application: ['domain'],
  projections: ['domain', 'infrastructure/postgres'],
  infrastructure: ['application', 'domain'],
  api: ['application', 'projections', 'domain'],
};
/** The composition root and the command line put the floors together. */
const roots = ['infrastructure/composition', 'infrastructure/cli'];
const all = Object.keys(floors);

const zones = all.flatMap((floor) => [
  ...all
    .filter((other) => other !== floor && !floors[floor].includes(other))
    .map((other) => ({
      target: [`./${floor}/**/*`],
      from: `./${other}`,
      except: floors[floor].filter((allowed) => allowed.startsWith(`${other}/`)).map((allowed) => `.${allowed.slice(other.length)}`),
      message: `${floor}/ does not import ${other}/ (ops/decisions.md, the house)`,
    })),
  { target: `./${floor}/**/*`, from: ['./test', './ops'], message: 'nothing that ships imports tests or tools' },
]).concat({ target: './api/client/**/*', from: './', except: ['./api/client'], message: 'the client runs in browsers: it imports nothing but itself' });

export default tseslint.config(
  { ignores: ['dist/', '.cache/', '.palimpsest/', 'node_modules/'] },
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.strictTypeChecked],
    plugins: { import: importPlugin },
    languageOptions: { parserOptions: { projectService: true } },
    settings: { 'import/resolver': { node: { extensions: ['.ts'] } } },
    rules: {
      '@typescript-eslint/consistent-type-definitions': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-unnecessary-condition': ['error', { allowConstantLoopConditions: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
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
        { object: 'Math', property: 'random', message: 'chance is injected' },
      ],
    },
  },
  {
    files: ['domain/**/*.ts', 'application/**/*.ts', 'projections/**/*.ts', 'infrastructure/**/*.ts', 'api/**/*.ts'],
    ignores: roots.map((root) => `${root}/**/*.ts`),
    rules: { 'import/no-restricted-paths': ['error', { zones }] },
  },
  {
    files: ['**/*.ts'],
    ignores: ['infrastructure/outbound/**', 'infrastructure/postgres/embedded/**', 'test/**', 'ops/**', 'infrastructure/cli/**', 'infrastructure/composition/**', 'infrastructure/event-store/eventstoredb/**', 'api/http/**', 'api/client/**'],
    rules: {
      'no-restricted-imports': ['error', { paths: ['undici', 'http', 'https', 'net', 'node:http', 'node:https', 'node:net'].map((name) => ({ name, message: 'outgoing requests go through infrastructure/outbound' })) }],
      'no-restricted-globals': ['error', { name: 'fetch', message: 'outgoing requests go through infrastructure/outbound' }],
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
  { files: ['infrastructure/cli/**/*.ts'], rules: { 'no-console': 'off' } },
);
