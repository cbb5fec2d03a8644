import { expect } from 'chai';
import { applyStatements } from '../../../application/content/apply-statements.ts';
import { createEntry } from '../../../application/content/create-entry.ts';
import { saveContentType } from '../../../application/content/save-content-type.ts';
import { isAppError } from '../../../domain/errors.ts';
import { contentProjection } from '../../../projections/content/projection.ts';
import { digestTables } from '../../../projections/engine/digest.ts';
import { claimsInMemory } from '../../support/claims-in-memory.ts';
import { testContext, useContent } from '../../support/content.ts';

const MOST_FIELDS = 500;

describe('the columns of a table that tenants share', () => {
  const world = useContent({ claims: claimsInMemory() });

  const fieldsOf = (round: number, count = MOST_FIELDS) =>
    Array.from({ length: count }, (_, n) => ({ name: `f${String(round)}_${String(n)}`, field_type: 'text' }));

  async function save(tenant: string, fields: readonly object[]): Promise<void> {
    await saveContentType(
      { verb: 'post', input: { name: 'page', fields } },
      testContext({ tenant }),
      world.contentTypes(),
    );
    await world.project();
  }

  async function apply(tenant: string): Promise<void> {
    const outcome = await applyStatements({ name: 'page' }, testContext({ tenant }), world.contentTypes());
    expect(outcome).to.include({ failed: 0 });
    await world.project();
  }

  async function write(tenant: string, data: { readonly [field: string]: string }): Promise<void> {
    const type = await world.contentTypeQueries().one(tenant, 'page');
    if (!type) throw new Error('the type exists');
    await createEntry({ type, data }, testContext({ tenant }), world.dependencies());
    await world.project();
  }

  const columns = () =>
    world.database().query<{ used: number; dropped: number }>(
      `select count(*) filter (where not attisdropped)::int as used, count(*) filter (where attisdropped)::int as dropped
         from pg_attribute where attrelid = 'rm_content.page'::regclass and attnum > 0`,
    );

  it('do not run out, however often one tenant replaces all fields of its type', async function () {
    this.timeout(120_000);
    await save('default', fieldsOf(0));
    await write('default', { f0_0: 'first' });
    const refused: unknown = await save('default', fieldsOf(1)).catch((error: unknown) => error);
    expect(isAppError(refused) && refused).to.include({
      status: 422,
      message:
        'invalid schema: a content type can have at most 750 columns, and "page" would need 1000 columns: 500 for its fields and 500 for removed fields whose removal is pending; apply the pending statements, or remove fewer fields',
    });
    // Five times all fields: each time they are removed, the removal is applied, and others are added.
    for (let round = 1; round <= 5; round += 1) {
      await save('default', [{ name: 'kept', field_type: 'text', indexed: true }]);
      await apply('default');
      await save('default', [{ name: 'kept', field_type: 'text', indexed: true }, ...fieldsOf(round, 499)]);
    }
    await write('default', { kept: 'mine', f5_0: 'last' });

    await save('other', fieldsOf(100));
    await write('other', { f100_0: 'theirs' });
    expect(
      await world.database().query('select f100_0 from content.page where tenant_id = $1', ['other']),
    ).to.deep.equal([{ f100_0: 'theirs' }]);
    expect(
      await world.database().query('select kept, f5_0 from content.page where tenant_id = $1 order by 1', ['default']),
    ).to.deep.equal([
      { kept: 'mine', f5_0: 'last' },
      { kept: null, f5_0: null },
    ]);
    const [count] = await columns();
    expect(count?.used).to.equal(1_012);
    expect(count?.dropped).to.be.lessThan(65);
    const indexes = `select indexdef from pg_indexes where schemaname = $1 and tablename = 'page' order by 1`;
    const definitions = await world.database().query<{ indexdef: string }>(indexes, ['rm_content']);
    expect(definitions).to.have.length(5);

    // A rebuild gives the same rows and indexes.
    const target = { schema: '"rm_content_next"', bulk: true };
    await world.database().transaction(async (tx) => {
      await tx.query('create schema rm_content_next');
      await contentProjection.create(tx, target);
      await contentProjection.apply(tx, target, await world.log());
      await contentProjection.finish?.((work) => work(tx), { schema: target.schema });
      const digest = (schema: string) => digestTables(tx, { projection: contentProjection, schema });
      expect(await digest('rm_content_next')).to.deep.equal(await digest('rm_content'));
      const rebuilt = await tx.query<{ indexdef: string }>(indexes, ['rm_content_next']);
      expect(rebuilt.map(({ indexdef }) => indexdef.replace('rm_content_next', 'rm_content'))).to.deep.equal(
        definitions.map(({ indexdef }) => indexdef),
      );
    });
  });
});
