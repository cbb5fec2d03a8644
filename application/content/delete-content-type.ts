import { TYPE_NAME } from '../../domain/content/content-type-parser.ts';
import { referencesTo } from '../../domain/content/content-type-relations.ts';
import { entryScopePrefix } from '../../domain/content/field-types.ts';
import type { CommandContext } from '../../domain/context.ts';
import { hasCode, refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { withClaims, withEndingScopes } from '../with-claims.ts';
import { appendTypeChange } from './append-type-change.ts';
import { changeExistingType } from './change-existing-type.ts';
import { type ContentTypeDependencies, contentTypeStream } from './content-type-dependencies.ts';
import { takeTypeName, typeNameClaim } from './take-type-name.ts';

/**
 * Deletes a content type. `soft` keeps its entries, marked as deleted.
 * @returns position of the deletion; undefined for a type that does not exist
 * @throws `schema_referenced`, `ddl_in_progress`, `not_caught_up`
 */
export async function deleteContentType(
  { name, content }: { readonly name: string; readonly content: 'hard' | 'soft' },
  context: CommandContext,
  dependencies: ContentTypeDependencies,
): Promise<GlobalPosition | undefined> {
  const { tenant } = context;
  if (!TYPE_NAME.test(name)) return undefined;
  return changeExistingType(
    {
      name,
      tenantTypes: 'alone',
      async change(stored, _session, types) {
        const [reference] = referencesTo(
          name,
          types.map((type) => ({ name: type.name, fields: type.definition.fields })),
        );
        if (reference !== undefined)
          throw refusal('schema_referenced', { message: `content type is referenced by ${reference}` });
        const command = { kind: 'delete', event: { type_id: stored.id, name, content } } as const;
        const prefixes = content === 'hard' ? [entryScopePrefix(stored.id)] : [];
        return withClaims(
          {
            async work(session) {
              const owner = contentTypeStream(tenant, stored.id);
              const taken = await takeTypeName({ owner, released: typeNameClaim(tenant, name) }, session);
              const work = () =>
                appendTypeChange({ typeId: stored.id, stored, command, takenValues: taken }, context, dependencies);
              return withEndingScopes({ tenant, prefixes, work }, dependencies);
            },
          },
          dependencies,
        );
      },
    },
    context,
    dependencies,
  ).catch((error: unknown) => {
    if (hasCode(error, 'schema_not_found')) return undefined;
    throw error;
  });
}
