import { createConfig, lintFromString } from '@redocly/openapi-core';

/** The errors and warnings of the recommended lint rules for an OpenAPI document, one string each. */
export async function lintOpenApi(document: object): Promise<readonly string[]> {
  const config = await createConfig({
    extends: ['recommended'],
    rules: {
      // The rule warns about `/a/{id}` beside `/a/cursor`. By the OpenAPI specification, the literal path takes
      // precedence.
      'no-ambiguous-paths': 'off',
      // Probes and the static files of the API reference have no 4xx responses.
      'operation-4xx-response': 'off',
      'no-invalid-media-type-examples': 'error',
      'no-invalid-schema-examples': 'error',
      'no-invalid-parameter-examples': 'error',
    },
  });
  const problems = await lintFromString({ source: JSON.stringify(document), config });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer ?? ''}`);
}
