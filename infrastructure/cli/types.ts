import { parseArgs } from 'node:util';
import { typescriptTypes } from '../../api/content/typescript-types.ts';
import { contentTypesOf } from '../composition/commands/describe-api.ts';
import { commandSettings } from './command-settings.ts';
import { writeResult } from './write-result.ts';

/** `palimpsest types`: writes TypeScript types of a tenant's content types to standard output or to a file. */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { tenant: { type: 'string', default: 'default' }, out: { type: 'string' } },
  });
  await writeResult(typescriptTypes(await contentTypesOf(values.tenant, await commandSettings())), values.out);
  return 0;
}
