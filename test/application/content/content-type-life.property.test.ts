import { expect } from 'chai';
import fc from 'fast-check';
import { v7 } from 'uuid';
import { applyStatements } from '../../../application/content/apply-statements.ts';
import { deleteContentType } from '../../../application/content/delete-content-type.ts';
import { renameContentType } from '../../../application/content/rename-content-type.ts';
import { renameField } from '../../../application/content/rename-field.ts';
import { saveContentType } from '../../../application/content/save-content-type.ts';
import { isAppError } from '../../../domain/errors.ts';
import { indexName } from '../../../projections/content/content-types/index-names.ts';
import { contentProjection } from '../../../projections/content/projection.ts';
import { digestTables } from '../../../projections/engine/digest.ts';
import { claimsInMemory } from '../../support/claims-in-memory.ts';
import { type Content, openContent, testContext } from '../../support/content.ts';
import { useDatabase } from '../../support/database.ts';
import { testMetadata } from '../../support/test-metadata.ts';

type FieldType = 'text' | 'integer';
type Wish = { readonly name: string; readonly field_type: FieldType; readonly indexed: boolean };

const TENANTS = ['default', 'other'] as const;
const NAMES = ['a', 'b'] as const;
const FIELDS = ['x', 'y', 'z'] as const;

type Operation =
  | {
      readonly kind: 'save';
      readonly tenant: string;
      readonly name: string;
      readonly fields: readonly Wish[];
      readonly adopt: boolean;
    }
  | { readonly kind: 'rename'; readonly tenant: string; readonly name: string; readonly to: string }
  | {
      readonly kind: 'rename_field';
      readonly tenant: string;
      readonly name: string;
      readonly field: string;
      readonly to: string;
    }
  | { readonly kind: 'apply'; readonly tenant: string; readonly name: string }
  | { readonly kind: 'delete'; readonly tenant: string; readonly name: string; readonly content: 'hard' | 'soft' }
  | { readonly kind: 'write'; readonly tenant: string; readonly name: string; readonly value: number };

/** The expected state of the tenants. Fields have an identity of their own, under which their values are kept. */
type ModelField = { readonly key: number; name: string; type: FieldType; indexed: boolean };
type ModelType = {
  tenant: string;
  name: string;
  deleted: boolean;
  fields: ModelField[];
  retained: ModelField[];
  entries: Map<number, number>[];
};

const of = fc.record({ tenant: fc.constantFrom(...TENANTS), name: fc.constantFrom(...NAMES) });
const wishes = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom(...FIELDS),
    field_type: fc.constantFrom<FieldType>('text', 'text', 'text', 'integer'),
    indexed: fc.boolean(),
  }),
  { selector: ({ name }) => name },
);
const operations: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(of, wishes, fc.boolean())
      .map(([at, fields, adopt]) => ({ kind: 'save' as const, ...at, fields, adopt })),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(of, fc.constantFrom(...NAMES)).map(([at, to]) => ({ kind: 'rename' as const, ...at, to })),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(of, fc.constantFrom(...FIELDS), fc.constantFrom(...FIELDS))
      .map(([at, field, to]) => ({ kind: 'rename_field' as const, ...at, field, to })),
  },
  { weight: 2, arbitrary: of.map((at) => ({ kind: 'apply' as const, ...at })) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(of, fc.constantFrom<'hard' | 'soft'>('hard', 'soft'))
      .map(([at, content]) => ({ kind: 'delete' as const, ...at, content })),
  },
  { weight: 4, arbitrary: fc.tuple(of, fc.nat(99)).map(([at, value]) => ({ kind: 'write' as const, ...at, value })) },
);

/** A different value for every field, so that values in the wrong field are found. */
function valueIn(field: string, value: number): number {
  return value * 10 + FIELDS.findIndex((name) => name === field);
}

function createModel() {
  const types: ModelType[] = [];
  let keys = 0;
  const live = (tenant: string, name: string) =>
    types.find((type) => type.tenant === tenant && type.name === name && !type.deleted);
  const stored = ({ fields, retained }: ModelType) => [...fields, ...retained];
  const foreign = (tenant: string, name: string) =>
    types.filter((type) => type.tenant !== tenant && type.name === name && !type.deleted).flatMap(stored);
  const conflicts = (
    tenant: string,
    name: string,
    fields: readonly { readonly name: string; readonly type: FieldType }[],
  ) =>
    fields.some((field) =>
      foreign(tenant, name).some((other) => other.name === field.name && other.type !== field.type),
    );

  /** @returns the code of the expected refusal; undefined when the step succeeds */
  function apply(operation: Operation): string | undefined {
    const { tenant, name } = operation;
    const type = live(tenant, name);
    switch (operation.kind) {
      case 'save': {
        const before =
          type ??
          (operation.adopt
            ? types.findLast((other) => other.tenant === tenant && other.name === name && other.deleted)
            : undefined);
        const known = before ? stored(before) : [];
        const fields = operation.fields.map(({ name: called, field_type, indexed }) => ({
          key: known.find((field) => field.name === called)?.key ?? (keys += 1),
          name: called,
          type: field_type,
          indexed,
        }));
        const retained = known.filter((field) => !fields.some(({ key }) => key === field.key));
        if (conflicts(tenant, name, before?.deleted === true ? [...fields, ...retained] : fields))
          return 'schema_table_shared';
        if (before) {
          Object.assign(before, { fields, retained, deleted: false });
          // The adopted type counts as deleted last, if it is deleted again.
          types.splice(types.indexOf(before), 1);
          types.push(before);
        } else types.push({ tenant, name, deleted: false, fields, retained, entries: [] });
        return undefined;
      }
      case 'rename':
        if (operation.to === name) return 'new_name_same';
        if (!type) return 'schema_not_found';
        if (live(tenant, operation.to)) return 'schema_exists';
        if (conflicts(tenant, operation.to, stored(type))) return 'schema_table_shared';
        type.name = operation.to;
        return undefined;
      case 'rename_field': {
        const field = type?.fields.find((known) => known.name === operation.field);
        if (!type) return 'schema_not_found';
        if (!field) return 'field_not_found';
        if (operation.to === field.name) return 'new_name_same';
        if (stored(type).some((other) => other.name === operation.to)) return 'field_exists';
        if (conflicts(tenant, name, [{ name: operation.to, type: field.type }])) return 'schema_table_shared';
        field.name = operation.to;
        return undefined;
      }
      case 'apply':
        if (!type) return 'schema_not_found';
        for (const entry of type.entries) for (const { key } of type.retained) entry.delete(key);
        type.retained = [];
        return undefined;
      case 'delete':
        if (!type) return undefined;
        types.splice(types.indexOf(type), 1);
        if (operation.content === 'soft') types.push({ ...type, deleted: true });
        return undefined;
      case 'write':
        type?.entries.push(new Map(type.fields.map((field) => [field.key, valueIn(field.name, operation.value)])));
        return undefined;
    }
  }

  return { types, apply };
}

describe('content types of two tenants', () => {
  const database = useDatabase();
  let runs = 0;

  async function perform(world: Content, operation: Operation): Promise<string | undefined> {
    const context = testContext({ tenant: operation.tenant });
    const { name } = operation;
    try {
      switch (operation.kind) {
        case 'save':
          await saveContentType(
            { verb: 'post', input: { name, fields: operation.fields }, adopt: operation.adopt },
            context,
            world.contentTypes(),
          );
          break;
        case 'rename':
          await renameContentType({ name, newName: operation.to }, context, world.contentTypes());
          break;
        case 'rename_field':
          await renameField({ name, field: operation.field, newName: operation.to }, context, world.contentTypes());
          break;
        case 'apply':
          expect(await applyStatements({ name }, context, world.contentTypes())).to.include({ failed: 0 });
          break;
        case 'delete':
          await deleteContentType({ name, content: operation.content }, context, world.contentTypes());
          break;
        case 'write':
          await write(world, operation);
      }
      return undefined;
    } catch (error) {
      if (isAppError(error)) return error.code;
      throw error;
    } finally {
      await world.project();
    }
  }

  async function write(world: Content, { tenant, name, value }: Extract<Operation, { kind: 'write' }>): Promise<void> {
    const type = await world.contentTypeQueries().one(tenant, name);
    if (!type) return;
    const fields = Object.fromEntries(
      type.definition.fields.map((field) => [
        field.name,
        field.field_type === 'text' ? String(valueIn(field.name, value)) : valueIn(field.name, value),
      ]),
    );
    const metadata = testMetadata({ tenant, actor: { kind: 'user', id: 'u' } });
    const data = { type_id: type.id, schema: name, type_revision: type.revision, fields, status: 'published' };
    await world.eventStore().append(`entry-${tenant}.${v7()}`, [{ id: v7(), type: 'EntryCreated', data, metadata }], {
      expected: 'no_stream',
    });
  }

  const sorted = (values: readonly unknown[]) => values.map((value) => JSON.stringify(value)).toSorted();

  async function compare(world: Content, types: readonly ModelType[]): Promise<void> {
    const db = database.db();
    for (const tenant of TENANTS) {
      const expected = types.filter((type) => type.tenant === tenant && !type.deleted);
      const found = await world.contentTypeQueries().list(tenant);
      expect(
        sorted(
          found.map(({ name, definition, retained }) => [
            name,
            definition.fields.map((field) => [field.name, field.field_type]),
            retained.map((field) => field.name).toSorted(),
          ]),
        ),
      ).to.deep.equal(
        sorted(
          expected.map(({ name, fields, retained }) => [
            name,
            fields.map((field) => [field.name, field.type]),
            retained.map((field) => field.name).toSorted(),
          ]),
        ),
      );
      for (const { name, fields, retained, entries } of expected) {
        const columns = [...fields, ...retained];
        const rows = await db.query(`select * from content.${name} where tenant_id = $1`, [tenant]);
        const shown = rows.map((row) => Object.fromEntries(columns.map((field) => [field.name, row[field.name]])));
        const valueOf = (entry: ModelType['entries'][number], { key, type }: ModelField) =>
          entry.has(key) ? (type === 'text' ? String(entry.get(key)) : entry.get(key)) : null;
        expect(sorted(shown), `${tenant}/${name}`).to.deep.equal(
          sorted(
            entries.map((entry) => Object.fromEntries(columns.map((field) => [field.name, valueOf(entry, field)]))),
          ),
        );
      }
    }
    for (const name of NAMES) {
      const columns = await db.query<{ column_name: string }>(
        `select column_name from information_schema.columns where table_schema = 'rm_content' and table_name = $1 and column_name = any ($2) order by 1`,
        [name, FIELDS],
      );
      const kept = types
        .filter((type) => !type.deleted && type.name === name)
        .flatMap(({ fields, retained }) => [...fields, ...retained]);
      const wanted = new Set(kept.map((field) => field.name));
      const indexes = await db.query<{ indexname: string }>(
        `select indexname from pg_indexes where schemaname = 'rm_content' and tablename = $1`,
        [name],
      );
      const isIndexed = (field: string) =>
        indexes.some(
          ({ indexname }) => indexname === indexName(name, { kind: 'column', column: { name: field, type: 'text' } }),
        );
      expect(FIELDS.filter(isIndexed), `indexes of ${name}`).to.deep.equal(
        FIELDS.filter((field) => kept.some((known) => known.name === field && known.indexed)),
      );
      expect(
        columns.map((column) => column.column_name),
        `columns of ${name}`,
      ).to.deep.equal([...wanted].toSorted());
    }
  }

  async function replayed(world: Content, schema: string, tenant?: string): Promise<unknown> {
    const db = database.db();
    const target = { schema: `"${schema}"`, bulk: true };
    await db.transaction(async (tx) => {
      await tx.query(`drop schema if exists ${schema} cascade; create schema ${schema}`);
      await contentProjection.create(tx, target);
      const events = [];
      for await (const event of world.eventStore().readAll(tenant === undefined ? {} : { filter: { tenant } }))
        events.push(event);
      await contentProjection.apply(tx, target, events);
      await contentProjection.finish?.((work) => work(tx), { schema: target.schema });
    });
    return db.transaction((tx) =>
      digestTables(tx, { projection: contentProjection, schema, ...(tenant === undefined ? {} : { tenant }) }),
    );
  }

  it('are what their saves, renames, removals, deletions and adoptions lead to, and a replay gives the same', async function () {
    this.timeout(240_000);
    await fc.assert(
      fc.asyncProperty(fc.array(operations, { minLength: 3, maxLength: 25 }), async (sequence) => {
        runs += 1;
        await database.db().query('drop schema if exists rm_content cascade; drop schema if exists content cascade');
        const world = await openContent({ database: database.db(), claims: claimsInMemory(), store: 'memory' });
        const model = createModel();
        for (const operation of sequence) {
          expect(await perform(world, operation), JSON.stringify(operation)).to.equal(model.apply(operation));
          await compare(world, model.types);
        }
        const live = await database
          .db()
          .transaction((tx) => digestTables(tx, { projection: contentProjection, schema: 'rm_content' }));
        expect(await replayed(world, 'rm_content_next')).to.deep.equal(live);
        // The tables of one tenant are the same without the events of the others.
        for (const tenant of TENANTS) await replayed(world, 'rm_content_next', tenant);
        await world.close();
      }),
      { numRuns: 60, ...(process.env['FC_SEED'] === undefined ? {} : { seed: Number(process.env['FC_SEED']) }) },
    );
    expect(runs).to.be.greaterThan(0);
  });
});
