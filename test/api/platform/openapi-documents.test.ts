import { expect } from 'chai';
import { EVERY_FIELD, TAG, WHOLE_WITH_PARTS } from '../../support/every-field.ts';
import { lintOpenApi } from '../../support/lint-openapi.ts';
import { useService } from '../../support/service.ts';

type Operation = { readonly operationId: string; readonly parameters: readonly { readonly name?: string; readonly $ref?: string }[]; readonly responses: Readonly<Record<string, { readonly headers?: Readonly<Record<string, unknown>> }>> };
type Document = { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>; readonly components: { readonly schemas: Readonly<Record<string, Record<string, unknown>>> } };

const ALL = [TAG, ...EVERY_FIELD, { name: 'sealed', transports: { rest: 'off' }, fields: [] }, { name: 'posted', transports: { rest: 'w' }, fields: [] }, { name: 'shown', transports: { rest: 'r' }, fields: [] }, { name: 'error', fields: [] }];

describe('the OpenAPI documents of a service', () => {
  const service = useService();

  before(async function () {
    this.timeout(60_000);
    for (const type of ALL) {
      const made = await service.owner('POST', '/api/admin/schemas', type);
      expect(made.status, made.text).to.equal(200);
    }
    const saved = await service.owner('PUT', '/api/admin/schemas/whole', WHOLE_WITH_PARTS);
    expect(saved.status, saved.text).to.equal(200);
  });

  for (const path of ['/api/admin/openapi/public.json', '/api/admin/openapi/admin.json', '/api/admin/openapi.json']) {
    it(`${path} passes the linter with content types of every field type`, async function () {
      this.timeout(60_000);
      const reply = await service.owner('GET', path);
      expect(reply.status).to.equal(200);
      expect(await lintOpenApi(reply.json())).to.deep.equal([]);
    });
  }
});
