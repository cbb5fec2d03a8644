import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { IdentityReads } from '../ports/identity-reads.ts';
import { decideOnAccessRules } from './decide-on-access-rules.ts';
import { decideOnApiKey } from './decide-on-api-key.ts';
import type { AccessRuleDependencies } from './tenant-dependencies.ts';

/**
 * Replaces the name of a renamed content type in the tenant's access rules and in the content-type lists of its API
 * keys. Call it after the rename was appended. Safe to repeat: a second run changes nothing.
 * @returns the position to wait for in the read model `identity`; undefined when no rule or key names the content type
 */
export async function renameSchemaInAccess(
  { from, to }: { readonly from: string; readonly to: string },
  context: CommandContext,
  dependencies: AccessRuleDependencies & { readonly reads: Pick<IdentityReads, 'apiKeysNaming'> },
): Promise<GlobalPosition | undefined> {
  let { position } = await decideOnAccessRules(
    { commandFor: () => ({ kind: 'rename_schema', from, to }) },
    context,
    dependencies,
  );
  for (const { id, schemas } of await dependencies.reads.apiKeysNaming({ tenant: context.tenant, schema: from })) {
    const renamed = [...new Set(schemas.map((name) => (name === from ? to : name)))];
    const outcome = await decideOnApiKey(
      { id, commandFor: () => ({ kind: 'set_schemas', schemas: renamed }) },
      context,
      dependencies,
    );
    position = outcome.position ?? position;
  }
  return position;
}
