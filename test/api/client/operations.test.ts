import { expect } from 'chai';
import { readFileSync, writeFileSync } from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';
import { prune } from '../../../api/http/openapi/prune.ts';
import type { OpenApiDocument } from '../../../api/http/openapi.ts';
import type { Json, JsonObject } from '../../../domain/json.ts';
import { useService } from '../../support/service.ts';

const FILE = 'api/client/generated/operations.ts';
const HEAD = `// Generated from the OpenAPI document by: UPDATE_GENERATED=1 npm test -- test/api/client/operations.test.ts\n`;

describe("the client's generated types", () => {
  const service = useService();

  it('match the OpenAPI document', async function () {
    this.timeout(60_000);
    const document = (await service.owner('GET', '/api/admin/openapi/public.json')).json<OpenApiDocument>();
    const text =
      HEAD + astToString(await openapiTS(JSON.stringify(ofEntries(document)), { immutable: true, alphabetize: true }));
    if (process.env['UPDATE_GENERATED'] === '1') writeFileSync(FILE, text);
    expect(text).to.equal(readFileSync(FILE, 'utf8'), 'run this test with UPDATE_GENERATED=1');
  });
});

/** The operations on entries. All errors have the same schema, so one of them is enough. */
function ofEntries(document: OpenApiDocument): OpenApiDocument {
  const ours = Object.entries(document.paths).filter(([path]) => path.startsWith('/api/v1/content/'));
  const paths = ours.map(([path, item]) => [
    path,
    Object.fromEntries(
      Object.entries(item).map(([method, operation]) => [
        method,
        { ...operation, responses: withoutRefusals(operation['responses']) },
      ]),
    ),
  ]);
  return prune({ ...document, paths: Object.fromEntries(paths) });
}

function withoutRefusals(responses: Json | undefined): JsonObject {
  return Object.fromEntries(
    Object.entries(responses ?? {}).filter(([status]) => Number(status) < 400 || status === '500'),
  );
}
