import { TYPE_NAME, parseName } from '../../domain/content/content-type-parser.ts';
import type { ContentTypeDefinition } from '../../domain/content/definition.ts';
import { moveOperations } from '../../domain/content/move-operations.ts';
import { renameDefinition } from '../../domain/content/rename-content-type.ts';
import { tableUseOf } from '../../domain/content/table-shape.ts';
import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { Json } from '../../domain/json.ts';
import { withClaims } from '../with-claims.ts';
import { appendTypeChange } from './append-type-change.ts';
import { changeExistingType } from './change-existing-type.ts';
import { type ContentTypeDependencies, contentTypeStream } from './content-type-dependencies.ts';
import { readNewName } from './read-new-name.ts';
import { otherTableUses, requireShareable } from './shared-table.ts';
import { takeTypeName, typeNameClaim } from './take-type-name.ts';
import { toPlacedStatements } from './to-statement.ts';
import { tryStatements } from './try-statements.ts';

export type RenamedContentType = { readonly definition: ContentTypeDefinition; readonly position: GlobalPosition };

/**
 * Renames a content type. Its entries, unique values, indexes and view keep working under the new name; relations of
 * the tenant's other types, access rules and API keys are changed to the new name. In a table that tenants share, only
 * this tenant's entries move.
 * @throws `schema_not_found`, `new_name_required`, `new_name_same`, `invalid_schema`, `schema_exists`,
 *   `schema_table_shared`, `schema_migration_failed`, `ddl_in_progress`, `not_caught_up`
 */
export async function renameContentType(
  { name, newName }: { readonly name: string; readonly newName: Json | undefined },
  context: CommandContext,
  dependencies: ContentTypeDependencies,
): Promise<RenamedContentType> {
  const { tenant, newId } = context;
  if (!TYPE_NAME.test(name)) throw refusal('schema_not_found');
  const to = readNewName({ input: newName, current: name, parse: parseName });
  return changeExistingType(
    {
      name,
      otherNames: [to],
      tenantTypes: 'alone',
      async change(stored, session, types) {
        if (types.some((type) => type.name === to)) throw refusal('schema_exists');
        const definition = renameDefinition(stored.definition, to);
        const others = {
          from: otherTableUses(await session.named(name), tenant),
          to: otherTableUses(await session.named(to), tenant),
        };
        const own = tableUseOf(stored);
        requireShareable([...own.fields, ...own.retained], others.to);
        const operations = moveOperations({ from: name, to, tenant, own, others });
        const statements = toPlacedStatements({ operations, ownTable: to, newId }, dependencies);
        await tryStatements({ tenant, table: to, statements }, session);
        const position = await withClaims(
          {
            async work(claims) {
              const owner = contentTypeStream(tenant, stored.id);
              const names = { taken: typeNameClaim(tenant, to), released: typeNameClaim(tenant, name) };
              const taken = await takeTypeName({ owner, ...names }, claims);
              const event = { type_id: stored.id, from: name, definition, statements };
              return appendTypeChange(
                { typeId: stored.id, stored, command: { kind: 'rename', event }, takenValues: taken },
                context,
                dependencies,
              );
            },
          },
          dependencies,
        );
        return { definition, position: (await dependencies.renameInAccess({ from: name, to }, context)) ?? position };
      },
    },
    context,
    dependencies,
  );
}
