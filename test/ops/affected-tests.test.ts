import { expect } from 'chai';
import { affectedTests } from '../../ops/test/affected-tests.ts';

const SOURCES = new Map([
  ['domain/slug.ts', `export const slug = 1;`],
  ['domain/entry.ts', `import { slug } from './slug.ts';\nimport type { Json } from './json.ts';`],
  ['domain/json.ts', `export type Json = unknown;`],
  ['application/create.ts', `import {\n  entry,\n} from '../domain/entry.ts';`],
  ['test/support/global-setup.ts', `import { root } from './root.ts';`],
  ['test/support/root.ts', ''],
  ['test/domain/slug.test.ts', `import { slug } from '../../domain/slug.ts';`],
  ['test/application/create.test.ts', `const { create } = await import('../../application/create.ts');`],
  ['test/ops/alerts.test.ts', `readFileSync('ops/monitoring/alerts.yaml', 'utf8');`],
  ['test/support/cli.ts', `fileURLToPath(new URL('../../domain/json.ts', import.meta.url));`],
  ['test/cli.test.ts', `import './support/cli.ts';`],
]);
const affectedBy = (...changed: readonly string[]) => affectedTests({ sources: SOURCES, changed });

describe('npm run test:changed', () => {
  it('runs a changed test', () => {
    expect(affectedBy('test/domain/slug.test.ts')).to.deep.equal(['test/domain/slug.test.ts']);
  });

  it('runs the tests that import a changed file, directly or through other files', () => {
    expect(affectedBy('domain/slug.ts')).to.deep.equal(['test/application/create.test.ts', 'test/domain/slug.test.ts']);
  });

  it('runs the tests that read or run a changed file', () => {
    expect(affectedBy('ops/monitoring/alerts.yaml')).to.deep.equal(['test/ops/alerts.test.ts']);
    expect(affectedBy('domain/json.ts')).to.include('test/cli.test.ts');
  });

  it('does not follow imports of types', () => {
    expect(affectedBy('domain/json.ts')).not.to.include('test/application/create.test.ts');
  });

  it('runs the importers of a deleted file', () => {
    const sources = new Map([...SOURCES].filter(([path]) => path !== 'domain/slug.ts'));
    expect(affectedTests({ sources, changed: ['domain/slug.ts'] })).to.include('test/domain/slug.test.ts');
  });

  it('runs the whole suite when a file changes that every test uses', () => {
    const all = [...SOURCES.keys()].filter((path) => path.endsWith('.test.ts')).sort();
    for (const path of ['package.json', 'test/support/root.ts']) expect(affectedBy(path), path).to.deep.equal(all);
  });

  it('runs nothing when no test uses the changed files', () => {
    expect(affectedBy('README.md')).to.deep.equal([]);
  });
});
