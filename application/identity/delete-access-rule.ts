import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { decideOnAccessRules } from './decide-on-access-rules.ts';
import type { AccessRuleDependencies } from './tenant-dependencies.ts';

/** Deletes an access rule. @returns the position to wait for @throws `access_rule_not_found` */
export async function deleteAccessRule(
  { ruleId }: { readonly ruleId: string },
  context: CommandContext,
  dependencies: AccessRuleDependencies,
): Promise<GlobalPosition | undefined> {
  return (await decideOnAccessRules({ commandFor: () => ({ kind: 'delete', ruleId }) }, context, dependencies))
    .position;
}
