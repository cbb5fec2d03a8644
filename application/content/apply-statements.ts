import { afterRemoval, endedFields, queuedStatement } from '../../domain/content/apply-queued.ts';
import type { StoredContentType } from '../../domain/content/content-type.ts';
import { TYPE_NAME } from '../../domain/content/content-type-parser.ts';
import type { FieldDefinition, SchemaStatement } from '../../domain/content/definition.ts';
import { uniqueScope } from '../../domain/content/field-types.ts';
import { toStatement } from '../../domain/content/schema-diff.ts';
import { useOf } from '../../domain/content/table-shape.ts';
import type { CommandContext } from '../../domain/context.ts';
import { hasCode, refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { Claims } from '../ports/claims.ts';
import type { SchemaSession } from '../ports/schema-workbench.ts';
import { appendChange, changeAlone, inProgress } from './change-content-type.ts';
import type { ContentTypeDependencies } from './change-content-type.ts';
import { otherUses } from './other-uses.ts';

export type AppliedStatements = {
  readonly applied: number;
  /** Taken back by saves since the last time. */
  readonly canceled: number;
  /** Refused by the database; they stay queued. */
  readonly failed: number;
  /** Undefined when there was nothing to do. */
  readonly position: GlobalPosition | undefined;
};

/**
 * Runs the queued statements of a content type: removed fields and switched off options go for good, and the unique values of those fields are
 * free. What the database refuses fails alone and is tried again the next time (spec 2, schema statements).
 * @throws `schema_not_found`, `ddl_in_progress`, `not_caught_up`
 */
export async function applyStatements({ name }: { readonly name: string }, context: CommandContext, dependencies: ContentTypeDependencies): Promise<AppliedStatements> {
  const { tenant } = context;
  if (!TYPE_NAME.test(name)) throw refusal('schema_not_found');
  return changeAlone({ tenant, names: [name], tenantTypes: 'shared' }, dependencies, async (session) => {
    const stored = (await session.ofTenant(tenant)).find((type) => type.name === name);
    if (!stored) throw refusal('schema_not_found');
    const { canceled } = stored;
    if (stored.pending.length + canceled === 0) return { applied: 0, canceled: 0, failed: 0, position: undefined };
    const others = otherUses(await session.named(name), tenant);
    const queue = stored.pending.map((queued) => queuedStatement(queued, { table: name, tenant, retained: stored.retained, others }));
    const { applied, failed } = await tryEach(queue, { tenant, table: name }, session);
    const ended = endedFields(applied, stored.retained);
    const retained = stored.retained.filter((field) => !ended.includes(field));
    const further = afterRemoval({ before: useOf(stored), after: useOf({ ...stored, retained }) }, others);
    const statements = further.map((operation) => toStatement(operation, name, context.newId()));
    const event = { type: 'ContentTypeStatementsApplied', data: { type_id: stored.id, name, applied, statements, failed, retained } } as const;
    const position = await endingClaims({ stored, ended }, dependencies.claims, () => appendChange({ typeId: stored.id, stored, event }, context, dependencies));
    return { applied: applied.length, canceled, failed: failed.length, position };
  });
}

/** Runs every queue of the tenant, one content type after the other. @throws `ddl_in_progress`, `not_caught_up`; what was applied before stays applied */
export async function applyAllStatements(context: CommandContext, dependencies: ContentTypeDependencies): Promise<AppliedStatements> {
  const waiting = (await dependencies.workbench.ofTenant(context.tenant)).filter(({ pending, canceled }) => pending.length + canceled > 0);
  let sum: AppliedStatements = { applied: 0, canceled: 0, failed: 0, position: undefined };
  for (const { name } of waiting) {
    const done = await applyStatements({ name }, context, dependencies).catch(ifGone);
    sum = { applied: sum.applied + done.applied, canceled: sum.canceled + done.canceled, failed: sum.failed + done.failed, position: done.position ?? sum.position };
  }
  return sum;
}

type Tried = { readonly applied: readonly SchemaStatement[]; readonly failed: readonly { readonly id: string; readonly reason: string }[] };

/** Each by itself: one that is refused keeps none of the others back. */
async function tryEach(queue: readonly SchemaStatement[], place: { readonly tenant: string; readonly table: string }, session: SchemaSession): Promise<Tried> {
  const applied: SchemaStatement[] = [];
  const failed: { readonly id: string; readonly reason: string }[] = [];
  for (const statement of queue) {
    const trial = await session.tryOut({ ...place, statements: [statement], checks: [] });
    if (trial.outcome === 'locked') throw inProgress();
    if (trial.outcome === 'refused') failed.push({ id: statement.id, reason: trial.reason });
    else applied.push(statement);
  }
  return { applied, failed };
}

/** Sets the unique values of ended fields free when `work` has appended. */
async function endingClaims<T>({ stored, ended }: { readonly stored: StoredContentType; readonly ended: readonly FieldDefinition[] }, claims: Claims, work: () => Promise<T>): Promise<T> {
  const scopes = ended.filter(({ unique }) => unique === true).map(({ id }) => uniqueScope(stored.id, id));
  for (const scope of scopes) await claims.doubtScopes(stored.tenant, scope);
  const result = await work();
  for (const scope of scopes) await claims.endScopes(stored.tenant, scope).catch(() => undefined);
  return result;
}

function ifGone(error: unknown): AppliedStatements {
  if (hasCode(error, 'schema_not_found')) return { applied: 0, canceled: 0, failed: 0, position: undefined };
  throw error;
}
