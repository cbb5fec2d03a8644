import { createConfig, lintFromString } from '@redocly/openapi-core';

/** What the linter's recommended rules say of an OpenAPI document, a line each; warnings count as well. */
export async function lintOpenApi(document: object): Promise<readonly string[]> {
  const config = await createConfig({
    extends: ['recommended'],
    rules: {
      // Warns where `/a/{id}` and `/a/cursor` stand side by side: the specification lets the literal path win, and so does the service.
      'no-ambiguous-paths': 'off',
      // Probes and the files of the reference refuse nobody.
      'operation-4xx-response': 'off',
      'no-invalid-media-type-examples': 'error',
      'no-invalid-schema-examples': 'error',
      'no-invalid-parameter-examples': 'error',
    },
  });
  const problems = await lintFromString({ source: JSON.stringify(document), config });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer ?? ''}`);
}
