import { expect } from 'chai';
import { v7 } from 'uuid';
import { type RecordedEvent, positionFrom } from '../../../domain/event.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { streamName } from '../../../domain/stream.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';
import { identityProjection } from '../../../projections/identity/projection.ts';
import { createIdentityQueries } from '../../../projections/identity/queries.ts';
import { useDatabase } from '../../support/database.ts';
import { rejectionOf } from '../../support/rejection.ts';
import { testMetadata } from '../../support/test-metadata.ts';

const sealed = (text: string) => ({ $sealed: 1, k: 'person', n: 'n', c: text });

/** Makes a log of recorded events. Revisions are counted per stream, positions over all. */
function logOf(
  events: readonly (readonly [
    category: 'user' | 'api_key' | 'tenant' | 'access_rule',
    id: string,
    type: string,
    data: JsonObject,
    tenant?: string,
  ])[],
): readonly RecordedEvent[] {
  const revisions = new Map<string, number>();
  return events.map(([category, id, type, data, tenant = 'default'], at) => {
    const stream = streamName({ category, tenant, id });
    const revision = (revisions.get(stream) ?? -1) + 1;
    revisions.set(stream, revision);
    const occurred_at = new Date(Date.UTC(2026, 0, 1, 0, 0, at, 7 * at)).toISOString();
    return {
      id: v7(),
      stream,
      revision,
      position: positionFrom(at + 1),
      type,
      data,
      recorded_at: occurred_at,
      metadata: testMetadata({ tenant, occurred_at }),
    };
  });
}

const [ada, bob, site, old] = [v7(), v7(), v7(), v7()];
const createdUser = (user_id: string, roles: readonly string[]) =>
  [
    'user',
    user_id,
    'UserCreated',
    { user_id, email: sealed('e'), password_hash: sealed('h'), roles, member_of: 'default' },
  ] as const;
const createdKey = (key_id: string, expires_at: string | null) =>
  [
    'api_key',
    key_id,
    'ApiKeyCreated',
    {
      key_id,
      name: 'k',
      prefix: 'abcdefgh',
      key_hash: `hash-${key_id}`,
      scopes: ['*:*'],
      roles: ['editor'],
      schemas: [],
      expires_at,
      monthly_limit: 0,
    },
  ] as const;

const log = logOf([
  createdUser(ada, ['super_admin', 'editor']),
  createdUser(bob, ['editor']),
  ['user', ada, 'UserSignedIn', { session_id: v7(), tenant: 'default', method: 'password' }],
  createdKey(site, '2027-01-01T00:00:00.000Z'),
  ['user', bob, 'UserRolesChanged', { roles: ['admin'] }],
  createdKey(old, null),
  ['user', bob, 'UserStateChanged', { disabled: true }],
  ['user', ada, 'UserPasswordChanged', { password_hash: sealed('h2') }],
  ['api_key', site, 'ApiKeyRevoked', {}],
  ['user', ada, 'UserSessionEnded', { session_id: v7(), reason: 'signed_out' }],
  ['api_key', old, 'ApiKeyDeleted', {}],
  ['user', bob, 'UserStateChanged', { disabled: false }],
]);

const [carl, rule, acmeRule, acmeKey] = [v7(), v7(), v7(), v7()];
const ruleEvent = (type: string, rule_id: string, what: JsonObject, tenant: string) =>
  ['access_rule', 'rules', type, { rule_id, ...what }, tenant] as const;
const everything = { role: 'editor', schema_name: '*', actions: ['*'], field_mask: [] };

/** Events of two tenants; one tenant is deleted between them. */
const tenants = logOf([
  ruleEvent('AccessRuleCreated', rule, everything, 'default'),
  ['tenant', 'default', 'TenantCreated', { slug: 'default', name: 'Default', domains: [], disabled: false }],
  createdUser(ada, ['super_admin']),
  ruleEvent('AccessRuleCreated', acmeRule, everything, 'acme'),
  ['tenant', 'acme', 'TenantCreated', { slug: 'acme', name: 'Acme', domains: ['acme.test'], disabled: false }],
  ['tenant', 'brand', 'TenantCreated', { slug: 'brand', name: 'Brand', domains: ['brand.test'], disabled: false }],
  [
    'user',
    carl,
    'UserCreated',
    { user_id: carl, email: sealed('e'), password_hash: sealed('h'), roles: ['editor'], member_of: 'acme' },
  ],
  ['user', carl, 'UserMembershipGranted', { tenant: 'brand', roles: ['reader'] }],
  ruleEvent('AccessRuleChanged', acmeRule, { schema_name: 'post', field_mask: ['secret'] }, 'acme'),
  ['tenant', 'brand', 'TenantChanged', { slug: 'brand', disabled: true }],
  [
    'api_key',
    acmeKey,
    'ApiKeyCreated',
    {
      key_id: acmeKey,
      name: 'k',
      prefix: 'abcdefgh',
      key_hash: 'acme',
      scopes: [],
      roles: [],
      schemas: ['post'],
      expires_at: null,
      monthly_limit: 0,
    },
    'acme',
  ],
  ['api_key', acmeKey, 'ApiKeySchemasChanged', { schemas: ['article'] }, 'acme'],
  ['user', carl, 'UserMembershipGranted', { tenant: 'brand', roles: ['editor'] }],
  ['tenant', 'acme', 'TenantDeleted', { slug: 'acme' }],
  ['api_key', acmeKey, 'ApiKeyRevoked', {}, 'acme'],
  ruleEvent('AccessRuleCreated', v7(), everything, 'acme'),
  ruleEvent('AccessRuleDeleted', acmeRule, {}, 'acme'),
  ['user', carl, 'UserMembershipGranted', { tenant: 'acme', roles: ['editor'] }],
  ['user', ada, 'UserMembershipRemoved', { tenant: 'default' }],
  ruleEvent('AccessRuleDeleted', rule, {}, 'default'),
  ['user', carl, 'UserSignedIn', { session_id: v7(), tenant: 'brand', method: 'password' }],
]);

describe('the identity projection', () => {
  const database = useDatabase();

  async function project(name: string, events: readonly RecordedEvent[], batchSize: number): Promise<void> {
    const schema = quoteIdentifier(name);
    await database.db().transaction(async (tx) => {
      await tx.query(`create schema ${schema}`);
      await identityProjection.create(tx, { schema });
    });
    for (let at = 0; at < events.length; at += batchSize) {
      await database
        .db()
        .transaction((tx) => identityProjection.apply(tx, { schema }, events.slice(at, at + batchSize)));
    }
  }

  /** Canonical texts of every table, read with the given time zone. */
  async function rowsOf(name: string, timeZone: string): Promise<unknown> {
    return database.db().transaction(async (tx) => {
      await tx.query(`set local timezone to '${timeZone}'; set local datestyle to 'SQL, DMY'`);
      const target = { schema: quoteIdentifier(name) };
      const texts: Record<string, readonly unknown[]> = {};
      for (const { table, canonical = 't::text' } of await identityProjection.tables(tx, target)) {
        texts[table] = (
          await tx.query<{ text: string | null }>(
            `select ${canonical} as text from ${target.schema}.${table} t order by 1`,
          )
        ).map(({ text }) => text);
      }
      return texts;
    });
  }

  it('gives the same digests for every batch size, time zone and date style', async () => {
    await project('one_by_one', log, 1);
    const expected = await rowsOf('one_by_one', 'UTC');
    expect(JSON.stringify(expected)).to.not.contain('null,null]');
    for (const [batchSize, zone] of [
      [2, 'Asia/Kolkata'],
      [5, 'America/St_Johns'],
      [100, 'Pacific/Apia'],
    ] as const) {
      await project(`by_${batchSize}`, log, batchSize);
      expect(await rowsOf(`by_${batchSize}`, zone)).to.deep.equal(expected);
    }
    for (const texts of Object.values(expected as Record<string, readonly (string | null)[]>))
      for (const text of texts) expect(text).to.be.a('string');
  });

  it('removes the rows of a deleted tenant and ignores its later events, for every batch size', async () => {
    await project('t1', tenants, 1);
    const expected = await rowsOf('t1', 'UTC');
    expect(JSON.stringify({ ...(expected as object), deleted_tenants: [] })).to.not.contain('acme');
    expect(expected).to.have.property('deleted_tenants').that.deep.equals(['acme']);
    for (const batchSize of [2, 3, 5, 100]) {
      await project(`t${batchSize}`, tenants, batchSize);
      expect(await rowsOf(`t${batchSize}`, 'Asia/Kolkata')).to.deep.equal(expected);
    }
    await project('rm_identity', tenants, 4);
    const reads = createIdentityQueries({ database: database.db() });
    expect((await reads.tenants({ limit: 10, offset: 0 })).map(({ slug, disabled }) => [slug, disabled])).to.deep.equal(
      [
        ['default', false],
        ['brand', true],
      ],
    );
    expect(await reads.userById(carl)).to.deep.include({
      roles: [],
      memberships: [{ tenant: 'brand', roles: ['editor'] }],
      tenantSessionsRevisions: { brand: 2 },
      sessionsRevision: 0,
    });
    expect(await reads.userById(ada)).to.deep.include({
      roles: ['super_admin'],
      memberships: [],
      tenantSessionsRevisions: { default: 1 },
    });
    const changed = await reads.changedTenants('');
    expect(changed.map(({ slug, tenant, rules }) => [slug, tenant?.domains, rules.length])).to.deep.equal([
      ['brand', ['brand.test'], 0],
      ['acme', undefined, 0],
      ['default', [], 0],
    ]);
    expect((await reads.changedTenants(changed[1]!.position)).map(({ slug }) => slug)).to.deep.equal(['default']);
    await database.db().query('drop schema rm_identity cascade');
  });

  it('returns users, memberships and keys in their state after the last event', async () => {
    await project('rm_identity', log, 3);
    const reads = createIdentityQueries({ database: database.db() });
    const found = await reads.userById(ada);
    expect(found).to.deep.include({
      id: ada,
      roles: ['super_admin', 'editor'],
      passwordHash: sealed('h2'),
      disabled: false,
      revision: 3,
      sessionsRevision: 2,
    });
    expect(found?.memberships).to.deep.equal([{ tenant: 'default', roles: ['editor'] }]);
    expect(found?.lastLoginAt?.toISOString()).to.equal(log[2]!.metadata.occurred_at);
    expect(found?.updatedAt.toISOString()).to.equal(log[7]!.metadata.occurred_at);
    expect(await reads.userById(bob)).to.deep.include({
      id: bob,
      roles: ['admin'],
      disabled: false,
      sessionsRevision: 3,
      memberships: [{ tenant: 'default', roles: ['admin'] }],
    });
    expect((await reads.users({ limit: 10, offset: 0 })).map(({ id }) => id)).to.deep.equal([ada, bob]);
    expect([
      await reads.countUsers(),
      await reads.otherSuperAdmins(ada),
      await reads.otherSuperAdmins(bob),
    ]).to.deep.equal([2, 0, 1]);
    expect(await reads.apiKeyByHash([`hash-${site}`])).to.deep.include({
      id: site,
      tenant: 'default',
      enabled: false,
      expiresAt: new Date('2027-01-01T00:00:00.000Z'),
    });
    expect(await reads.apiKeyById({ tenant: 'acme', keyId: site })).to.equal(undefined);
    expect(await reads.apiKeys({ tenant: 'default', limit: 10, offset: 0 })).to.have.length(1);
    expect(await reads.apiKeys({ tenant: 'acme', limit: 10, offset: 0 })).to.be.empty;
    expect(await reads.lastChange()).to.equal(positionFrom(log.length));
  });

  it('removes a deleted user, and fails at a change of an unknown user', async () => {
    const deletion = logOf([createdUser(ada, []), ['user', ada, 'UserDeleted', {}]]);
    await project('deleted', deletion, 1);
    expect(await rowsOf('deleted', 'UTC')).to.deep.equal({
      users: [],
      memberships: [],
      api_keys: [],
      admin_tokens: [],
      tenants: [],
      access_rules: [],
      deleted_tenants: [],
    });
    const orphan = logOf([['user', bob, 'UserStateChanged', { disabled: true }]]);
    expect(String(await rejectionOf(project('orphan', orphan, 1)))).to.contain(
      'UserStateChanged on a user that does not exist',
    );
  });
});
