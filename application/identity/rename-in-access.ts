import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { renameInAccessRules } from './access-rules.ts';
import { decideOnApiKey } from './decide-on-api-key.ts';
import type { IdentityDependencies } from './dependencies.ts';

/**
 * Lets the tenant's access rules and its keys' lists of content types follow a content type to another name. To be called after the rename is a
 * fact; safe to repeat, a second run finds nothing to do. @returns position to wait for (read model `identity`), undefined where nothing names it
 */
export async function renameInAccess(
  dependencies: Pick<IdentityDependencies, 'eventStore' | 'changes' | 'tenants' | 'reads'>,
  { from, to }: { readonly from: string; readonly to: string },
  context: CommandContext,
): Promise<GlobalPosition | undefined> {
  let position = await renameInAccessRules(dependencies, { from, to }, context);
  for (const { id, schemas } of await dependencies.reads.apiKeysNaming({ tenant: context.tenant, schema: from })) {
    const renamed = [...new Set(schemas.map((name) => (name === from ? to : name)))];
    position = (await decideOnApiKey(dependencies, { keyId: id, command: { kind: 'set_schemas', schemas: renamed } }, context)) ?? position;
  }
  return position;
}
