import { expect } from 'chai';
import { type RecordedEvent, positionFrom } from '../../../domain/event.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { withTenantDeletion } from '../../../projections/engine/with-tenant-deletion.ts';
import { deleteWithheldFeatures } from '../../../projections/platform/delete-withheld-features.ts';
import { platformProjection } from '../../../projections/platform/projection.ts';
import { createFeatureQueries } from '../../../projections/platform/queries.ts';
import { useDatabase } from '../../support/database.ts';
import { recordedEvent } from '../../support/recorded-events.ts';

const sealed = { $sealed: 1, k: 'k', n: 'n', c: 'c' };
const target = { schema: '"rm_platform"' };
const projection = withTenantDeletion(platformProjection, { deleteRows: deleteWithheldFeatures });

describe('the platform projection', () => {
  const database = useDatabase();
  let number = 0;

  const event = (stream: string, type: string, data: JsonObject, tenant = 'default'): RecordedEvent => {
    number += 1;
    const base = recordedEvent({ number, type, stream, data });
    return { ...base, metadata: { ...base.metadata, tenant }, position: positionFrom(number) };
  };
  const configured = (feature: string, values: JsonObject, secrets: JsonObject = {}, removed: readonly string[] = []) =>
    event(`settings-default.feature.${feature}`, 'FeatureConfigured', { feature, values, secrets, removed });
  const withheld = (tenant: string, ...names: readonly string[]) =>
    event(`settings-${tenant}.features`, 'FeaturesWithheld', { withheld: names }, tenant);
  async function fresh() {
    await database.db().transaction(async (tx) => {
      await tx.query('drop schema if exists rm_platform cascade');
      await tx.query('create schema rm_platform');
      await projection.create(tx, target);
    });
  }
  const apply = (events: readonly RecordedEvent[]) =>
    database.db().transaction((tx) => projection.apply(tx, target, events));
  const history = () => [
    configured('webhook', { days: 7, colour: 'red' }),
    configured('captcha', { site: 'a' }, { secret: sealed }),
    event('settings-default.license', 'LicenseRenewed', { plan: 'team' }),
    withheld('acme', 'apikey', 'webhook'),
    withheld('beta', 'flow'),
    configured('webhook', { days: 9 }, {}, ['colour']),
    event('settings-default.feature.apikey', 'FeatureConfigurationReset', { feature: 'apikey' }),
    withheld('acme', 'webhook'),
    withheld('gone', 'media'),
    event('tenant-default.gone', 'TenantDeleted', { slug: 'gone' }),
    withheld('beta'),
  ];

  it('produces the same rows with any batch size, ignores other settings, and deletes the rows of deleted tenants', async () => {
    const events = history();
    for (const size of [1, 2, 3, events.length]) {
      await fresh();
      for (let at = 0; at < events.length; at += size) await apply(events.slice(at, at + size));
      const reads = createFeatureQueries({ database: database.db() });
      expect(await reads.withheld()).to.deep.equal(new Map([['acme', new Set(['webhook'])]]));
      expect(await reads.configurations()).to.deep.equal(
        new Map([
          ['webhook', { values: { days: 9 }, secrets: {} }],
          ['captcha', { values: { site: 'a' }, secrets: { secret: sealed } }],
          ['apikey', { values: {}, secrets: {} }],
        ]),
      );
    }
  });
});
