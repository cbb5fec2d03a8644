import { parseName } from '../../domain/content/content-type-parser.ts';
import type { ContentTypeDefinition, SchemaStatement } from '../../domain/content/definition.ts';
import { isRecord } from '../../domain/content/parse-json.ts';
import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { EntryValue, SchemaSession } from '../ports/schema-workbench.ts';
import { appendChange, changeAlone, claimingName, contentTypeStream, inProgress, nameClaim } from './change-content-type.ts';
import type { ContentTypeDependencies } from './change-content-type.ts';
import { claimingExisting, claimsOf, releasingExisting } from './existing-unique-values.ts';
import { planContentType, refuseDefinition } from './plan-content-type.ts';
import type { ContentTypePlan } from './plan-content-type.ts';

export type SaveContentType =
  /** Creates the type, or saves over the one of that name (spec 4 B). */
  | { readonly verb: 'post'; readonly input: unknown }
  /** Saves over a type there is; the name in the path wins. */
  | { readonly verb: 'put'; readonly name: string; readonly input: unknown };

export type SavedContentType = { readonly definition: ContentTypeDefinition; readonly position: GlobalPosition };

/**
 * Saves a definition: its difference to the stored one is tried in the database, then becomes an event (spec 2, save semantics; spec 5, rule 9).
 * What would lose values is queued.
 * @throws `invalid_schema`, `schema_refused`, `schema_not_found`, `schema_table_shared`, `schema_migration_failed`, `ddl_in_progress`, `not_caught_up`
 */
export async function saveContentType(command: SaveContentType, context: CommandContext, dependencies: ContentTypeDependencies): Promise<SavedContentType> {
  const name = nameOf(command);
  return changeAlone(name, dependencies, async (session) => {
    const { tenant } = context;
    const plan = await planOf(command, name, context, session);
    const typeId = plan.stored?.id ?? context.newId();
    const going = claimsOf(tenant, typeId, await session.valuesOf(tenant, name, plan.difference.released));
    const coming = claimsOf(tenant, typeId, await tryOut(plan, tenant, session));
    const claiming = { claims: dependencies.claims, command: context.newId() };
    const position = await claimingExisting(coming, claiming, () =>
      releasingExisting({ going, staying: coming }, claiming, () => append(plan, typeId, context, dependencies)),
    );
    return { definition: plan.definition, position };
  });
}

async function planOf(command: SaveContentType, name: string, context: CommandContext, session: SchemaSession): Promise<ContentTypePlan> {
  if (command.verb === 'put' && !(await session.ofTenant(context.tenant)).some((type) => type.name === name)) throw refusal('schema_not_found');
  try {
    return await planContentType(name, command.input, context, session);
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

async function tryOut({ definition, difference }: ContentTypePlan, tenant: string, session: SchemaSession): Promise<readonly EntryValue[]> {
  const trial = await session.tryOut({ tenant, table: definition.name, statements: difference.statements.filter(isApplied), checks: difference.checks });
  if (trial.outcome === 'locked') throw inProgress();
  if (trial.outcome === 'refused') throw refusal('schema_migration_failed', { cause: trial.reason });
  return trial.unique;
}

async function append({ definition, stored, difference }: ContentTypePlan, typeId: string, context: CommandContext, dependencies: ContentTypeDependencies): Promise<GlobalPosition> {
  const { statements, canceled, retained } = difference;
  const event = { type: 'ContentTypeSaved', data: { type_id: typeId, definition, statements, canceled, retained } } as const;
  if (stored) return appendChange({ typeId, stored, event }, context, dependencies);
  return claimingName(contentTypeStream(context.tenant, typeId), nameClaim(context.tenant, definition.name), dependencies.claims, () =>
    appendChange({ typeId, stored, event }, context, dependencies),
  );
}

function isApplied(statement: SchemaStatement): boolean {
  return statement.destructive !== true;
}
