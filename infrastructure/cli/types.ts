import { parseArgs } from 'node:util';
import { typescriptTypes } from '../../api/content/typescript-types.ts';
import { contentTypesOf } from '../composition/describe.ts';
import { commandSettings } from './command-settings.ts';
import { writeResult } from './write-result.ts';

/** `palimpsest types`: TypeScript types of a tenant's content types, on standard output or in a file. */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { tenant: { type: 'string', default: 'default' }, out: { type: 'string' } } });
  await writeResult(typescriptTypes(await contentTypesOf(await commandSettings(), values.tenant)), values.out);
  return 0;
}
