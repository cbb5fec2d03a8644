import { parseArgs } from 'node:util';
import { DOCUMENTS, type DocumentName } from '../../api/platform/openapi-routes.ts';
import { describeApi } from '../composition/commands/describe-api.ts';
import { commandSettings } from './command-settings.ts';
import { writeResult } from './write-result.ts';

const USAGE = `usage: palimpsest openapi public|admin|all [--tenant <slug>] [--out <file>]

  public   the Content API, with every content type of the tenant (default: the default tenant)
  admin    the Admin API
  all      both
`;

/**
 * `palimpsest openapi`: writes an OpenAPI document to standard output or to a file; needs no session.
 * @returns 2 for wrong arguments
 */
export async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { tenant: { type: 'string', default: 'default' }, out: { type: 'string' } },
  });
  const [name = '', ...more] = positionals;
  if (more.length > 0 || !isDocumentName(name)) {
    process.stderr.write(USAGE);
    return 2;
  }
  const document = await describeApi({ name, tenant: values.tenant }, await commandSettings());
  await writeResult(`${JSON.stringify(document, undefined, 2)}\n`, values.out);
  return 0;
}

function isDocumentName(name: string): name is DocumentName {
  return Object.hasOwn(DOCUMENTS, name);
}
