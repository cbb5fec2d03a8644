import { parseName, TYPE_NAME } from '../../domain/content/content-type-parser.ts';
import type { ContentTypeDefinition } from '../../domain/content/definition.ts';
import { moveOperations } from '../../domain/content/move-operations.ts';
import { renameDefinition } from '../../domain/content/rename-content-type.ts';
import { findConflict, toStatement } from '../../domain/content/schema-diff.ts';
import { useOf } from '../../domain/content/table-shape.ts';
import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { Json } from '../../domain/json.ts';
import { appendChange, changeAlone, claimingName, contentTypeStream, nameClaim } from './change-content-type.ts';
import type { ContentTypeDependencies } from './change-content-type.ts';
import { readNewName } from './new-name.ts';
import { otherUses, sharedDifferently } from './other-uses.ts';
import { tryOut } from './try-out.ts';

export type RenamedContentType = { readonly definition: ContentTypeDefinition; readonly position: GlobalPosition };

/**
 * Gives a content type another name: its entries, their unique values, its indexes and its view go with it, and relations of the tenant's
 * other types follow, and so do access rules and keys that name it. Where tenants share a table, this tenant's entries alone move (spec 2, rename; spec 4 B, shared tables).
 * @throws `schema_not_found`, `new_name_required`, `new_name_same`, `invalid_schema`, `schema_exists`, `schema_table_shared`,
 *   `schema_migration_failed`, `ddl_in_progress`, `not_caught_up`
 */
export async function renameContentType(
  { name, newName }: { readonly name: string; readonly newName: Json | undefined },
  context: CommandContext,
  dependencies: ContentTypeDependencies,
): Promise<RenamedContentType> {
  const { tenant, newId } = context;
  if (!TYPE_NAME.test(name)) throw refusal('schema_not_found');
  const to = readNewName(newName, name, parseName);
  return changeAlone({ tenant, names: [name, to], tenantTypes: 'alone' }, dependencies, async (session) => {
    const types = await session.ofTenant(tenant);
    const stored = types.find((type) => type.name === name);
    if (!stored) throw refusal('schema_not_found');
    if (types.some((type) => type.name === to)) throw refusal('schema_exists');
    const definition = renameDefinition(stored.definition, to);
    const othersThere = { from: otherUses(await session.named(name), tenant), to: otherUses(await session.named(to), tenant) };
    const own = useOf(stored);
    const conflict = findConflict([...own.fields, ...own.retained], othersThere.to.flatMap(({ fields, retained }) => [...fields, ...retained]));
    if (conflict !== undefined) throw sharedDifferently(conflict);
    const operations = moveOperations({ from: name, to, tenant, own, othersThere });
    const statements = operations.map(({ table, operation }) => ({ ...toStatement(operation, table, newId()), ...(table === to ? {} : { table }) }));
    await tryOut({ tenant, table: to, statements }, session);
    const event = { type: 'ContentTypeRenamed', data: { type_id: stored.id, from: name, definition, statements } } as const;
    const claims = { owner: contentTypeStream(tenant, stored.id), taken: nameClaim(tenant, to), released: [nameClaim(tenant, name)] };
    const position = await claimingName(claims, dependencies.claims, () => appendChange({ typeId: stored.id, stored, event }, context, dependencies));
    return { definition, position: (await dependencies.renamed({ from: name, to }, context)) ?? position };
  });
}
