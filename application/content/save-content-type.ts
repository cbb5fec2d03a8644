import { parseName } from '../../domain/content/content-type-parser.ts';
import type { ContentTypeDefinition, FieldDefinition } from '../../domain/content/definition.ts';
import { uniqueScope } from '../../domain/content/field-types.ts';
import { isRecord } from '../../domain/content/parse-json.ts';
import { tableNameOf } from '../../domain/content/table-name.ts';
import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { SchemaSession } from '../ports/schema-sessions.ts';
import { type TakenValues, withClaims } from '../with-claims.ts';
import { appendTypeChange } from './append-type-change.ts';
import { backfillUniqueClaims, requestClaimBackfill } from './backfill-unique-claims.ts';
import { changeTypesExclusively } from './change-types-exclusively.ts';
import { type ContentTypeDependencies, contentTypeStream } from './content-type-dependencies.ts';
import { claimExistingValues, claimsByOwner } from './existing-unique-values.ts';
import { type ContentTypePlan, definitionRefusal, planContentType } from './plan-content-type.ts';
import { takeTypeName, typeNameClaim } from './take-type-name.ts';
import { tryStatements } from './try-statements.ts';

export type SaveContentTypeInput =
  /**
   * Creates the type, or saves over the one with that name. `adopt` restores a type that was deleted with its entries
   * kept. `onlyNew` refuses to save over an existing type.
   */
  | { readonly verb: 'post'; readonly input: unknown; readonly adopt?: boolean; readonly onlyNew?: boolean }
  /** Saves over an existing type. `name` takes precedence over the name in the body. */
  | { readonly verb: 'put'; readonly name: string; readonly input: unknown };

export type SavedContentType = { readonly definition: ContentTypeDefinition; readonly position: GlobalPosition };

/**
 * Saves a definition. The difference to the stored definition is tried in the database, then appended as an event.
 * Destructive statements are queued.
 * @throws `invalid_schema`, `schema_refused`, `schema_not_found`, `schema_exists` (`onlyNew`), `schema_table_shared`,
 *   `schema_migration_failed`, `ddl_in_progress`, `not_caught_up`
 */
export async function saveContentType(
  command: SaveContentTypeInput,
  context: CommandContext,
  dependencies: ContentTypeDependencies,
): Promise<SavedContentType> {
  const name = nameOf(command);
  const { tenant } = context;
  const { definition, position, unique } = await changeTypesExclusively(
    { scope: { tenant, names: [name], tenantTypes: 'shared' }, change },
    dependencies,
  );
  await backfillUniqueClaims({ unique, position }, dependencies);
  return { definition, position };

  async function change(session: SchemaSession) {
    const plan = await planSave({ command, name }, context, { ...dependencies, session });
    const { stored, difference, statements } = plan;
    if (stored && command.verb === 'post' && command.onlyNew === true) throw refusal('schema_exists');
    const typeId = stored?.id ?? context.newId();
    const released = await session.valuesOf({
      tenant,
      table: stored ? tableNameOf(stored) : name,
      fields: difference.released,
      deletedAt: stored?.deletedAt,
    });
    const applied = statements.filter(({ destructive }) => destructive !== true);
    const held = await tryStatements({ tenant, table: name, statements: applied, checks: difference.checks }, session);
    const before = claimsByOwner({ tenant, typeId, values: released });
    const after = claimsByOwner({ tenant, typeId, values: held });
    const fields = difference.checks.filter(({ kind }) => kind === 'unique').map(({ field }) => field);
    await requestClaimBackfill({ tenant, typeId, fields }, dependencies);
    // Claims of a field that was not unique are left from an earlier time. No entry has updated them since.
    for (const { id } of fields.filter((field) => !isUnique(field, stored)))
      await dependencies.claims.releaseScopes({ tenant, prefix: uniqueScope(typeId, id) });
    const appended = await withClaims(
      {
        command: context.repeatable?.attempt ?? context.newId(),
        async work(claims) {
          await claimExistingValues({ before, after }, claims);
          const owner = contentTypeStream(tenant, typeId);
          const taken =
            !stored || stored.deleted
              ? await takeTypeName({ owner, taken: typeNameClaim(tenant, plan.definition.name) }, claims)
              : undefined;
          return appendSave({ plan, typeId, takenValues: taken }, context, dependencies);
        },
      },
      dependencies,
    );
    return { definition: plan.definition, position: appended, unique: { tenant, typeId, name, fields } };
  }
}

async function planSave(
  { command, name }: { readonly command: SaveContentTypeInput; readonly name: string },
  context: CommandContext,
  { session, renderer }: Pick<ContentTypeDependencies, 'renderer'> & { readonly session: SchemaSession },
): Promise<ContentTypePlan> {
  const { verb, input } = command;
  if (verb === 'put' && !(await session.ofTenant(context.tenant)).some((type) => type.name === name))
    throw refusal('schema_not_found');
  try {
    const adopt = verb === 'post' && command.adopt === true;
    return await planContentType({ name, input, adopt }, context, { reader: session, renderer });
  } catch (error) {
    throw definitionRefusal(error, verb);
  }
}

function nameOf(command: SaveContentTypeInput): string {
  try {
    return parseName(
      command.verb === 'put' ? command.name : isRecord(command.input) ? command.input['name'] : undefined,
    );
  } catch (error) {
    // A type with an invalid name cannot exist.
    if (command.verb === 'put') throw refusal('schema_not_found');
    throw definitionRefusal(error, 'post');
  }
}

function appendSave(
  {
    plan,
    typeId,
    takenValues: taken,
  }: { readonly plan: ContentTypePlan; readonly typeId: string; readonly takenValues: TakenValues | undefined },
  context: CommandContext,
  dependencies: ContentTypeDependencies,
): Promise<GlobalPosition> {
  const { definition, stored, difference, statements } = plan;
  const { canceled, retained } = difference;
  const adopted = stored?.deleted === true ? { adopted: true } : {};
  const event = { type_id: typeId, definition, statements, canceled, retained, ...adopted };
  return appendTypeChange(
    { typeId, stored, command: { kind: 'save', event }, takenValues: taken },
    context,
    dependencies,
  );
}

/** Whether the field is unique in the stored definition. */
function isUnique({ id }: FieldDefinition, stored: ContentTypePlan['stored']): boolean {
  return stored?.definition.fields.some((field) => field.id === id && field.unique === true) === true;
}
