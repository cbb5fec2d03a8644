import { expect } from 'chai';
import { openApiDocument } from '../../../api/http/openapi.ts';
import type { Route } from '../../../api/http/route.ts';
import { healthRoutes } from '../../../api/platform/health-routes.ts';
import { metricsRoutes } from '../../../api/platform/metrics-routes.ts';
import { openApiRoutes } from '../../../api/platform/openapi-routes.ts';
import { lintOpenApi } from '../../support/lint-openapi.ts';
import { bodyOf, useServed } from '../../support/serve-routes.ts';
import { thingRoutes } from './thing-routes.ts';

const health = healthRoutes({
  state: () => 'running',
  databaseReachable: () => Promise.resolve(true),
  stoppedProjections: () => [],
  diskLow: () => Promise.resolve(false),
});
const table: Route[] = [
  ...thingRoutes(),
  ...health,
  ...metricsRoutes({ metrics: { text: () => Promise.resolve(''), contentType: 'text/plain' }, token: undefined }),
  ...openApiRoutes({
    routes: () => table,
    version: '0.1.0',
    queries: { list: () => Promise.resolve([]) },
    accessRules: { decide: () => ({ allowed: true, maskedFields: new Set() }) },
  }),
];

type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};
type Operation = {
  readonly parameters: readonly { readonly name?: string; readonly $ref?: string }[];
  readonly security: readonly unknown[];
  readonly responses: Readonly<Record<string, unknown>>;
  readonly requestBody?: {
    readonly content: { readonly 'application/json': { readonly schema: { readonly required: readonly string[] } } };
  };
};

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    expect(await lintOpenApi(openApiDocument(table, { title: 'Things', version: '1' }))).to.deep.equal([]);
  });

  it('describes every route with parameters, body, responses and refusals', () => {
    const document: Document = JSON.parse(JSON.stringify(openApiDocument(table, { title: 'Things', version: '1' })));
    const at = (path: string, method: string) =>
      document.paths[path]?.[method] ?? expect.fail(`${method} ${path} is missing`);
    for (const { path, method } of table) at(path, method.toLowerCase());
    const create = at('/api/v1/things', 'post');
    expect(create.requestBody?.content['application/json'].schema.required).to.deep.equal(['name']);
    expect(create.responses['400']).to.deep.equal({
      $ref: '#/components/responses/400-invalid_header-invalid_json_body',
    });
    expect(Object.keys(create.responses)).to.include.members([
      '200',
      '400',
      '401',
      '403',
      '409',
      '413',
      '415',
      '422',
      '500',
    ]);
    expect(create.security).to.deep.equal([{ session: [] }, { apiKey: [] }]);
    const list = at('/api/v1/things', 'get');
    expect(list.parameters.map(({ name, $ref }) => name ?? $ref)).to.deep.equal([
      'limit',
      'filters',
      '#/components/parameters/X-Min-Position',
    ]);
    expect(at('/api/v1/things/{id}', 'get').parameters[0]).to.include({ name: 'id', in: 'path', required: true });
    expect(at('/api/admin/public', 'get').security).to.deep.equal([]);
  });

  describe('over HTTP', () => {
    const served = useServed(table);
    const pathsOf = async (path: string, who: string) => {
      const response = await fetch(served().admin.url + path, { headers: { Authorization: `Bearer ${who}` } });
      return response.status === 200 ? Object.keys((await bodyOf(response)).paths) : response.status;
    };
    it('shows the Content API to admins, and both APIs to super admins', async () => {
      const half = await pathsOf('/api/admin/openapi.json', 'admin');
      expect(half).to.include('/api/v1/things').and.not.include('/api/admin/things');
      expect(await pathsOf('/api/admin/openapi/public.json', 'admin')).to.deep.equal(half);
      expect(await pathsOf('/api/admin/openapi.json', 'super')).to.include.members([
        '/api/v1/things',
        '/api/admin/things',
      ]);
      expect(await pathsOf('/api/admin/openapi/admin.json', 'super'))
        .to.include('/api/admin/things')
        .and.not.include('/api/v1/things');
    });
    it('refuses other callers', async () => {
      expect(await pathsOf('/api/admin/openapi/admin.json', 'admin')).to.equal(403);
      expect(await pathsOf('/api/admin/openapi.json', 'editor')).to.equal(403);
      expect(await pathsOf('/api/admin/openapi.json', 'nobody')).to.equal(401);
    });
  });
});
