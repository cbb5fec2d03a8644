import { referencesTo } from '../../domain/content/content-type-relations.ts';
import { entryScopes } from '../../domain/content/field-types.ts';
import { TYPE_NAME } from '../../domain/content/content-type-parser.ts';
import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { appendChange, changeAlone, contentTypeStream, nameClaim } from './change-content-type.ts';
import type { ContentTypeDependencies } from './change-content-type.ts';

/**
 * Deletes a content type; `soft` keeps its entries, marked deleted (spec 2, content types; spec 4 B).
 * @returns position of the deletion; undefined for a type that is not there
 * @throws `schema_referenced`, `ddl_in_progress`, `not_caught_up`
 */
export async function deleteContentType(
  { name, content }: { readonly name: string; readonly content: 'hard' | 'soft' },
  context: CommandContext,
  dependencies: ContentTypeDependencies,
): Promise<GlobalPosition | undefined> {
  if (!TYPE_NAME.test(name)) return undefined;
  return changeAlone({ tenant: context.tenant, names: [name], tenantTypes: 'alone' }, dependencies, async (session) => {
    const types = await session.ofTenant(context.tenant);
    const stored = types.find((type) => type.name === name);
    if (!stored) return undefined;
    const [reference] = referencesTo(name, types.map((type) => ({ name: type.name, fields: type.definition.fields })));
    if (reference !== undefined) throw refusal('schema_referenced', { message: `content type is referenced by ${reference}` });
    const event = { type: 'ContentTypeDeleted', data: { type_id: stored.id, name, content } } as const;
    const { claims } = dependencies;
    const owner = contentTypeStream(context.tenant, stored.id);
    const released = [nameClaim(context.tenant, name)];
    const prefix = entryScopes(stored.id);
    await claims.claim(owner, [], released);
    if (content === 'hard') await claims.doubtScopes(context.tenant, prefix);
    const position = await appendChange({ typeId: stored.id, stored, event }, context, dependencies);
    // What this leaves undone the claims' reaper does, which asks the streams.
    await claims.confirm(owner, [], released).catch(() => undefined);
    if (content === 'hard') await claims.endScopes(context.tenant, prefix).catch(() => undefined);
    return position;
  });
}
