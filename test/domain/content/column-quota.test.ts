import { expect } from 'chai';
import { exceededQuota, exceedsShare } from '../../../domain/content/column-quota.ts';
import type { TableUse } from '../../../domain/content/schema-diff.ts';

describe('the quota of columns', () => {
  const fields = (prefix: string, count: number): TableUse['fields'] =>
    Array.from({ length: count }, (_, n) => ({
      id: `${prefix}${String(n)}`,
      name: `${prefix}${String(n)}`,
      field_type: 'text',
    }));
  const use = (prefix: string, current: number, removed = 0): TableUse => ({
    fields: fields(prefix, current),
    retained: fields(`${prefix}_removed_`, removed),
  });

  it('counts fields and removed fields, and not the other side of a relation', () => {
    const otherSide = { id: 'x', name: 'x', field_type: 'relation', relation_type: 'has_many' } as const;
    expect(exceededQuota(undefined, use('a', 500, 250))).to.equal(undefined);
    expect(exceededQuota(undefined, { ...use('a', 500, 250), fields: [...fields('a', 500), otherSide] })).to.equal(
      undefined,
    );
    expect(exceededQuota(use('a', 500), use('a', 500, 251))).to.deep.equal({ current: 500, removed: 251 });
  });

  it('lets a type that was over it before change without more columns', () => {
    expect(exceededQuota(use('a', 500, 900), use('a', 400, 1_000))).to.equal(undefined);
    expect(exceededQuota(use('a', 500, 900), use('a', 401, 1_000))).to.deep.equal({ current: 401, removed: 1_000 });
  });

  it('leaves columns of a shared table for small types', () => {
    const others = [use('a', 500, 250), use('b', 500, 150)];
    expect(exceedsShare({ before: undefined, after: use('c', 50) }, others)).to.equal(false);
    expect(exceedsShare({ before: undefined, after: use('c', 51) }, others)).to.equal(true);
    expect(exceedsShare({ before: undefined, after: use('a', 300) }, others)).to.equal(false);
    expect(exceedsShare({ before: use('c', 60), after: use('c', 60) }, others)).to.equal(false);
  });
});
