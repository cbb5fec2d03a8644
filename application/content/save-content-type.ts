import { parseName } from '../../domain/content/content-type-parser.ts';
import type { ContentTypeDefinition, FieldDefinition, SchemaStatement } from '../../domain/content/definition.ts';
import { isRecord } from '../../domain/content/parse-json.ts';
import { uniqueScope } from '../../domain/content/field-types.ts';
import { tableNameOf } from '../../domain/content/table-names.ts';
import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { SchemaSession } from '../ports/schema-workbench.ts';
import { appendChange, changeAlone, claimingName, contentTypeStream, nameClaim } from './change-content-type.ts';
import type { ContentTypeDependencies } from './change-content-type.ts';
import { claimingExisting, claimsOf, releasingExisting } from './existing-unique-values.ts';
import { lookAgain, noteToLookAgain } from './look-again.ts';
import { planContentType, refuseDefinition } from './plan-content-type.ts';
import type { ContentTypePlan } from './plan-content-type.ts';
import { tryOut } from './try-out.ts';

export type SaveContentType =
  /**
   * Creates the type, or saves over the one of that name; `adopt` brings back one that was deleted with its entries kept (spec 4 B). `onlyNew`
   * refuses to save over one.
   */
  | { readonly verb: 'post'; readonly input: unknown; readonly adopt?: boolean; readonly onlyNew?: boolean }
  /** Saves over a type there is; the name in the path wins. */
  | { readonly verb: 'put'; readonly name: string; readonly input: unknown };

export type SavedContentType = { readonly definition: ContentTypeDefinition; readonly position: GlobalPosition };

/**
 * Saves a definition: its difference to the stored one is tried in the database, then becomes an event (spec 2, save semantics; spec 5, rule 9).
 * What would lose values is queued.
 * @throws `invalid_schema`, `schema_refused`, `schema_not_found`, `schema_exists` (`onlyNew`), `schema_table_shared`, `schema_migration_failed`, `ddl_in_progress`, `not_caught_up`
 */
export async function saveContentType(command: SaveContentType, context: CommandContext, dependencies: ContentTypeDependencies): Promise<SavedContentType> {
  const name = nameOf(command);
  const { tenant } = context;
  const { definition, position, becoming } = await changeAlone({ tenant, names: [name], tenantTypes: 'shared' }, dependencies, async (session) => {
    const plan = await planOf(command, name, context, session);
    const { stored, difference } = plan;
    if (stored && command.verb === 'post' && command.onlyNew === true) throw refusal('schema_exists');
    const typeId = stored?.id ?? context.newId();
    const before = stored ? tableNameOf(stored) : name;
    const going = claimsOf(tenant, typeId, await session.valuesOf({ tenant, table: before, fields: difference.released, deletedAt: stored?.deletedAt }));
    const statements = difference.statements.filter(isApplied);
    const coming = claimsOf(tenant, typeId, await tryOut({ tenant, table: name, statements, checks: difference.checks }, session));
    const claiming = { claims: dependencies.claims, command: context.newId() };
    const unique = { tenant, typeId, name, fields: difference.checks.filter(({ kind }) => kind === 'unique').map(({ field }) => field) };
    await noteToLookAgain(unique, dependencies.claims);
    // What is claimed for a field that was not unique is left from before, when entries went or changed without a word to it.
    for (const { id } of unique.fields.filter((field) => !isUnique(field, stored))) await dependencies.claims.endScopes(tenant, uniqueScope(typeId, id));
    const appended = await claimingExisting(coming, claiming, () => releasingExisting({ going, staying: coming }, claiming, () => append(plan, typeId, context, dependencies)));
    return { definition: plan.definition, position: appended, becoming: unique };
  });
  await lookAgain(becoming, position, dependencies);
  return { definition, position };
}

async function planOf(command: SaveContentType, name: string, context: CommandContext, session: SchemaSession): Promise<ContentTypePlan> {
  if (command.verb === 'put' && !(await session.ofTenant(context.tenant)).some((type) => type.name === name)) throw refusal('schema_not_found');
  try {
    return await planContentType(name, command.input, context, session, { adopt: command.verb === 'post' && command.adopt === true });
  } catch (error) {
    throw refuseDefinition(error, command.verb);
  }
}

function nameOf(command: SaveContentType): string {
  try {
    return parseName(command.verb === 'put' ? command.name : isRecord(command.input) ? command.input['name'] : undefined);
  } catch (error) {
    // No type has a name outside the grammar.
    if (command.verb === 'put') throw refusal('schema_not_found');
    throw refuseDefinition(error, 'post');
  }
}

async function append({ definition, stored, difference }: ContentTypePlan, typeId: string, context: CommandContext, dependencies: ContentTypeDependencies): Promise<GlobalPosition> {
  const { statements, canceled, retained } = difference;
  const adopted = stored?.deleted === true ? { adopted: true } : {};
  const event = { type: 'ContentTypeSaved', data: { type_id: typeId, definition, statements, canceled, retained, ...adopted } } as const;
  if (stored && !stored.deleted) return appendChange({ typeId, stored, event }, context, dependencies);
  const claim = { owner: contentTypeStream(context.tenant, typeId), taken: nameClaim(context.tenant, definition.name) };
  return claimingName(claim, dependencies.claims, () => appendChange({ typeId, stored, event }, context, dependencies));
}

/** Whether the field is unique in the definition in force. */
function isUnique({ id }: FieldDefinition, stored: ContentTypePlan['stored']): boolean {
  return stored?.definition.fields.some((field) => field.id === id && field.unique === true) === true;
}

function isApplied(statement: SchemaStatement): boolean {
  return statement.destructive !== true;
}
