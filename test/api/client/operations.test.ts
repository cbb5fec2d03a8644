import { expect } from 'chai';
import { readFileSync, writeFileSync } from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';
import { prune } from '../../../api/http/openapi/prune.ts';
import type { OpenApiDocument } from '../../../api/http/openapi.ts';
import type { Json, JsonObject } from '../../../domain/json.ts';
import { useService } from '../../support/service.ts';

const FILE = 'api/client/operations.ts';
const HEAD = `// Written from the OpenAPI document, compared by a test: \`UPDATE_GENERATED=1 npm test -- test/api/client/operations.test.ts\`.\n`;

describe("the types of the client's operations", () => {
  const service = useService();

  it('are those of the OpenAPI document', async function () {
    this.timeout(60_000);
    const document = (await service.owner('GET', '/api/admin/openapi/public.json')).json<OpenApiDocument>();
    const text = HEAD + astToString(await openapiTS(JSON.stringify(ofEntries(document)), { immutable: true, alphabetize: true }));
    if (process.env['UPDATE_GENERATED'] === '1') writeFileSync(FILE, text);
    expect(text).to.equal(readFileSync(FILE, 'utf8'), `npm run again with UPDATE_GENERATED=1`);
  });
});

/** The operations of entries. Refusals all look alike: one of them stands for the others. */
function ofEntries(document: OpenApiDocument): OpenApiDocument {
  const ours = Object.entries(document.paths).filter(([path]) => path.startsWith('/api/v1/content/'));
  const paths = ours.map(([path, item]) => [path, Object.fromEntries(Object.entries(item).map(([method, operation]) => [method, { ...operation, responses: withoutRefusals(operation['responses']) }]))]);
  return prune({ ...document, paths: Object.fromEntries(paths) });
}

function withoutRefusals(responses: Json | undefined): JsonObject {
  return Object.fromEntries(Object.entries(responses ?? {}).filter(([status]) => Number(status) < 400 || status === '500'));
}
