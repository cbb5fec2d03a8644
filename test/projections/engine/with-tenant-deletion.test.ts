import { expect } from 'chai';
import { v7 } from 'uuid';
import { type RecordedEvent, positionFrom } from '../../../domain/event.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';
import { modellingProjection } from '../../../projections/content/modelling/projection.ts';
import { withTenantDeletion } from '../../../projections/engine/with-tenant-deletion.ts';
import { useDatabase } from '../../support/database.ts';
import { testMetadata } from '../../support/test-metadata.ts';

/** Presets stand for the rows of any read model. */
const projection = withTenantDeletion(modellingProjection);
const event = (at: number, stream: string, tenant: string, type: string, data: JsonObject): RecordedEvent => ({
  id: v7(),
  stream,
  revision: at,
  position: positionFrom(at + 1),
  type,
  data,
  recorded_at: '2026-01-01T00:00:00.000Z',
  metadata: testMetadata({ tenant }),
});
const saved = (at: number, tenant: string, id: string) =>
  event(at, `settings-${tenant}.preset_${id}`, tenant, 'PresetSaved', {
    preset: { id, name: id, description: '', schemas: [] },
    source_url: null,
  });
const log = [
  saved(0, 'acme', 'one'),
  saved(1, 'brand', 'one'),
  event(2, 'tenant-default.acme', 'default', 'TenantChanged', { slug: 'acme', disabled: true }),
  saved(3, 'acme', 'two'),
  event(4, 'tenant-default.acme', 'default', 'TenantDeleted', { slug: 'acme' }),
  saved(5, 'acme', 'racing'),
  saved(6, 'brand', 'two'),
];

describe('a projection with tenant deletion', () => {
  const database = useDatabase();

  it('deletes the rows of a deleted tenant and ignores its later events, with any batch size', async () => {
    for (const size of [1, 2, 3, 7]) {
      const target = { schema: quoteIdentifier(`by_${size}`) };
      await database.db().transaction(async (tx) => {
        await tx.query(`create schema ${target.schema}`);
        await projection.create(tx, target);
      });
      for (let at = 0; at < log.length; at += size)
        await database.db().transaction((tx) => projection.apply(tx, target, log.slice(at, at + size)));
      const rows = await database.db().query(`select tenant_id, id from ${target.schema}.saved_presets order by 1, 2`);
      expect(rows, `batches of ${size}`).to.deep.equal([
        { tenant_id: 'brand', id: 'one' },
        { tenant_id: 'brand', id: 'two' },
      ]);
      expect(await database.db().query(`select slug from ${target.schema}._deleted_tenants`)).to.deep.equal([
        { slug: 'acme' },
      ]);
      const tables = await database.db().transaction((tx) => projection.tables(tx, target));
      expect(
        tables.map(({ table }) => table),
        'included in the digests',
      ).to.include('_deleted_tenants');
    }
  });
});
