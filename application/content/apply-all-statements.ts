import type { CommandContext } from '../../domain/context.ts';
import { hasCode } from '../../domain/errors.ts';
import { type AppliedStatements, NOTHING_APPLIED, applyStatements } from './apply-statements.ts';
import type { ContentTypeDependencies } from './content-type-dependencies.ts';

/**
 * Runs the pending statements of all content types of the tenant, one type after the other.
 * @throws `ddl_in_progress`, `not_caught_up`; the statements of earlier types stay applied
 */
export async function applyAllStatements(
  context: CommandContext,
  dependencies: ContentTypeDependencies,
): Promise<AppliedStatements> {
  const types = await dependencies.schemaSessions.ofTenant(context.tenant);
  let sum = NOTHING_APPLIED;
  for (const { name } of types.filter(({ pending, canceled }) => pending.length + canceled > 0)) {
    const done = await applyStatements({ name }, context, dependencies).catch((error: unknown) => {
      // The type was deleted or renamed since the list was read.
      if (hasCode(error, 'schema_not_found')) return NOTHING_APPLIED;
      throw error;
    });
    sum = {
      applied: sum.applied + done.applied,
      canceled: sum.canceled + done.canceled,
      failed: sum.failed + done.failed,
      position: done.position ?? sum.position,
    };
  }
  return sum;
}
