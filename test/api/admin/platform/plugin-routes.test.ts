import { expect } from 'chai';
import { FEATURES, FEATURE_NAMES } from '../../../../domain/platform/features.ts';
import type { Setting } from '../../../../infrastructure/configuration/setting.ts';
import { SETTINGS } from '../../../../infrastructure/configuration/settings/index.ts';
import { eventually } from '../../../support/eventually.ts';
import { useReplicas } from '../../../support/replicas.ts';
import { useService } from '../../../support/service.ts';

type Status = {
  name: string;
  compiled: boolean;
  entitled: boolean;
  requested: boolean;
  active: boolean;
  phase: string;
  reason: string | null;
  last_error: string | null;
  manifest: Record<string, unknown>;
  routes: string[];
};

const NEVER_SERVED = { error: 'The requested endpoint does not exist.', code: 'endpoint_not_found' };

describe('the feature declarations', () => {
  it('are those of the documented list', () => {
    const specified =
      `apikey usage localization schema webhook error-tracking magic-link rate-limit flow media content config-sync migration cron logging synthetic-monitoring
      graphql grpc realtime email review ai captcha audit data-export device-fingerprint messagebroker events`.split(
        /\s+/,
      );
    expect(FEATURE_NAMES.toSorted()).to.deep.equal(specified.toSorted());
  });

  it('give settings the same defaults as the variables that override them', () => {
    const byVariable = new Map(Object.values<Setting<unknown>>(SETTINGS).map(({ name, fallback }) => [name, fallback]));
    expect(byVariable.get('APIKEY_RETENTION_DAYS')).to.equal(FEATURES.apikey.settings.retention_days.fallback);
    expect(byVariable.get('WEBHOOK_DELIVERY_RETENTION_DAYS')).to.equal(
      FEATURES.webhook.settings.delivery_retention_days.fallback,
    );
  });
});

describe('the feature status', () => {
  const service = useService();
  const status = async (name: string) =>
    (await service.owner('GET', '/api/admin/plugins/status')).json<Status[]>().find((one) => one.name === name);

  it('lists every feature with its routes and manifest', async () => {
    const all = (await service.owner('GET', '/api/admin/plugins/status')).json<Status[]>();
    expect(all.map(({ name }) => name)).to.deep.equal(FEATURE_NAMES);
    const { routes, ...apikey } = (await status('apikey'))!;
    expect(apikey).to.deep.equal({
      name: 'apikey',
      compiled: true,
      entitled: true,
      requested: true,
      active: true,
      phase: 'running',
      reason: null,
      last_error: null,
      manifest: {
        name: 'apikey',
        summary: 'API keys of a tenant, their history and limits',
        capability: 'apikey-pro',
        licensed: false,
        limits: { 'apikey.keys': 5 },
        settings: ['retention_days'],
      },
    });
    expect(routes).to.include('POST /api/admin/api-keys/{id}/revoke');
  });

  it('reports a feature that is not in this build as not compiled, and serves none of its routes', async () => {
    const absent = (await status('device-fingerprint'))!;
    expect(absent).to.deep.include({
      compiled: false,
      active: false,
      phase: 'absent',
      reason: 'this build does not contain it',
      routes: [],
    });
    for (const path of ['schema', 'config']) {
      const reply = await service.owner('GET', `/api/admin/plugins/device-fingerprint/${path}`);
      expect([reply.status, reply.json()]).to.deep.equal([
        404,
        { error: 'plugin not found', code: 'plugin_not_found' },
      ]);
    }
    expect((await service.owner('GET', '/api/admin/plugins/constructor/config')).status).to.equal(404);
  });

  it('lists the features that serve the tenant', async () => {
    const { plugins, withheld } = (await service.owner('GET', '/api/admin/plugins/running')).json<{
      plugins: string[];
      withheld: string[];
    }>();
    expect(plugins).to.include.members(['apikey', 'content', 'schema', 'webhook']);
    expect(plugins).not.to.include('device-fingerprint');
    expect(withheld).to.deep.equal([]);
  });
});

describe('SVC_PLUGINS', () => {
  const service = useService({ environment: { SVC_PLUGINS: 'schema, content,device-fingerprint' } });

  it('starts the listed features; the routes of all others answer 404 and are not documented', async () => {
    expect((await service.owner('GET', '/api/admin/schemas')).status).to.equal(200);
    for (const [call, method, path] of [
      [service.owner, 'GET', '/api/admin/webhooks'],
      [service.admin, 'GET', '/api/admin/webhooks'],
      [service.owner, 'OPTIONS', '/api/admin/webhooks'],
      [service.owner, 'PATCH', '/api/admin/api-keys'],
    ] as const) {
      const reply = await call(method, path);
      expect([reply.status, reply.json()]).to.deep.equal([404, NEVER_SERVED]);
    }
    expect((await service.owner('GET', '/api/admin/openapi.json')).text).not.to.contain('/api/admin/webhooks');
  });

  it('determines `requested` in the status', async () => {
    const all = (await service.owner('GET', '/api/admin/plugins/status')).json<Status[]>();
    expect(all.filter(({ requested }) => requested).map(({ name }) => name)).to.deep.equal([
      'content',
      'device-fingerprint',
      'schema',
    ]);
    const webhook = all.find(({ name }) => name === 'webhook')!;
    expect(webhook).to.deep.include({
      compiled: true,
      requested: false,
      active: false,
      phase: 'stopped',
      reason: 'SVC_PLUGINS does not list it',
    });
    expect(webhook.routes).to.include('GET /api/admin/webhooks');
    expect(
      (await service.owner('GET', '/api/admin/plugins/running')).json<{ plugins: string[] }>().plugins,
    ).to.deep.equal(['content', 'schema']);
  });
});

describe('feature settings', () => {
  const replicas = useReplicas();
  const path = '/api/admin/plugins/webhook/config';

  it('are described by a JSON Schema', async () => {
    const { owner } = await replicas.start();
    expect((await owner('GET', '/api/admin/plugins/webhook/schema')).json()).to.deep.include({
      title: 'webhook',
      type: 'object',
      additionalProperties: false,
      properties: {
        delivery_retention_days: {
          type: 'integer',
          minimum: -99_999,
          maximum: 99_999,
          default: 30,
          'x-variable': 'WEBHOOK_DELIVERY_RETENTION_DAYS',
          description: 'Days that what was sent to webhooks is kept, with its attempts; 0 or less keeps everything.',
        },
      },
    });
    expect((await owner('GET', '/api/admin/plugins/schema/schema')).json()).to.deep.include({ properties: {} });
  });

  it('are validated, saved, known to all replicas, kept after a restart, and reset', async () => {
    const one = await replicas.start();
    const two = await replicas.start();
    const fresh = {
      plugin: 'webhook',
      config: { delivery_retention_days: 30 },
      sources: { delivery_retention_days: 'default' },
    };
    const saved = {
      plugin: 'webhook',
      config: { delivery_retention_days: 7 },
      sources: { delivery_retention_days: 'console' },
    };
    expect((await one.owner('GET', path)).json()).to.deep.equal(fresh);
    for (const [body, field] of [
      [{ delivery_retention_days: 'seven' }, 'delivery_retention_days'],
      [{ delivery_retention_days: 1e9 }, 'delivery_retention_days'],
      [{ colour: 'red' }, 'colour'],
    ] as const) {
      const reply = await one.owner('PUT', path, body);
      expect([
        reply.status,
        reply.json<{ fields: { field: string }[] }>().fields.map((problem) => problem.field),
      ]).to.deep.equal([422, [field]]);
    }
    const put = await one.owner('PUT', path, { delivery_retention_days: 7 });
    expect([put.status, put.json()]).to.deep.equal([200, saved]);
    expect(put.headers['x-commit-position']).to.match(/^\d{20}$/);
    expect((await one.owner('PUT', path, { delivery_retention_days: 7 })).headers['x-commit-position']).to.equal(
      undefined,
    );
    expect((await one.owner('PUT', path, {})).json()).to.deep.equal(saved);
    await eventually(async () => {
      expect((await two.owner('GET', path)).json()).to.deep.equal(saved);
    });
    const three = await replicas.start();
    expect((await three.owner('GET', path)).json()).to.deep.equal(saved);
    expect((await three.owner('PUT', path, { delivery_retention_days: null })).json()).to.deep.equal(fresh);
    await one.owner('PUT', path, { delivery_retention_days: 8 });
    expect((await one.owner('POST', `${path}/reset`)).json()).to.deep.equal(fresh);
    const types = (await one.owner('GET', '/api/admin/audit?limit=200'))
      .json<{ data: { type: string }[] }>()
      .data.map(({ type }) => type)
      .filter((type) => type.startsWith('Feature'));
    expect(types).to.deep.equal([
      'FeatureConfigurationReset',
      'FeatureConfigured',
      'FeatureConfigured',
      'FeatureConfigured',
    ]);
  });

  it('are refused when the environment sets them, and the environment takes precedence', async () => {
    const one = await replicas.start();
    await one.owner('PUT', path, { delivery_retention_days: 9 });
    const two = await replicas.start({ environment: { WEBHOOK_DELIVERY_RETENTION_DAYS: '90' } });
    expect((await two.owner('GET', path)).json()).to.deep.equal({
      plugin: 'webhook',
      config: { delivery_retention_days: 90 },
      sources: { delivery_retention_days: 'environment' },
    });
    const refused = await two.owner('PUT', path, { delivery_retention_days: 5 });
    expect([refused.status, refused.json()['fields']]).to.deep.equal([
      422,
      [{ field: 'delivery_retention_days', message: 'is set by the environment' }],
    ]);
  });
});

describe('features withheld from a tenant', () => {
  const replicas = useReplicas();

  it('answer 404 in this tenant only, on all replicas, until they are restored', async () => {
    const one = await replicas.start();
    const two = await replicas.start();
    const path = '/api/admin/tenant-features/acme';
    expect((await one.owner('GET', path)).json()).to.deep.equal({
      error: 'tenant not found',
      code: 'tenant_not_found',
    });
    expect((await one.owner('PUT', path, { withheld: ['webhook'] })).status).to.equal(404);
    expect((await one.owner('POST', '/api/admin/tenants', { slug: 'acme', name: 'Acme' })).status).to.equal(201);
    expect((await one.owner('GET', path)).json()).to.deep.equal({ withheld: [] });
    const unknown = await one.owner('PUT', path, { withheld: ['webhook', 'teleport'] });
    expect([unknown.status, unknown.json()['fields']]).to.deep.equal([
      422,
      [{ field: 'withheld', message: 'unknown feature: teleport' }],
    ]);

    const put = await one.owner('PUT', path, { withheld: ['webhook', 'apikey', 'webhook'] });
    expect([put.status, put.json()]).to.deep.equal([200, { withheld: ['apikey', 'webhook'] }]);
    const inAcme = { 'x-tenant-id': 'acme' };
    const refused = await one.owner('GET', '/api/admin/webhooks', undefined, inAcme);
    expect([refused.status, refused.json()]).to.deep.equal([404, NEVER_SERVED]);
    expect((await one.owner('GET', '/api/admin/schemas', undefined, inAcme)).status).to.equal(200);
    expect((await one.owner('GET', '/api/admin/webhooks')).status).to.equal(200);
    const running = (await one.owner('GET', '/api/admin/plugins/running', undefined, inAcme)).json<{
      plugins: string[];
      withheld: string[];
    }>();
    expect(running.withheld).to.deep.equal(['apikey', 'webhook']);
    expect(running.plugins).to.include('schema').and.not.to.include.members(['webhook']);
    await eventually(async () => {
      expect((await two.owner('GET', '/api/admin/webhooks', undefined, inAcme)).json()).to.deep.equal(NEVER_SERVED);
    });

    expect((await two.owner('PUT', path, { withheld: [] })).json()).to.deep.equal({ withheld: [] });
    expect((await two.owner('GET', '/api/admin/webhooks', undefined, inAcme)).status).to.equal(200);
  });
});
