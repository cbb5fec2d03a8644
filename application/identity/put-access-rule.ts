import type { CommandContext } from '../../domain/context.ts';
import { checkAccessRule } from '../../domain/identity/access-rule.ts';
import { findRuleId } from '../../domain/identity/access-rules.ts';
import { decideOnAccessRules } from './decide-on-access-rules.ts';
import { type AccessRuleInput, type SavedAccessRule, savedAccessRule } from './saved-access-rule.ts';
import type { AccessRuleDependencies } from './tenant-dependencies.ts';

/** Creates a role's rule for a content type, or replaces the existing one. @throws `validation_failed` */
export async function putAccessRule(
  input: AccessRuleInput,
  context: CommandContext,
  dependencies: AccessRuleDependencies,
): Promise<SavedAccessRule> {
  const rule = checkAccessRule(input);
  const newId = context.newId();
  const outcome = await decideOnAccessRules(
    { commandFor: () => ({ kind: 'put', rule, newId }) },
    context,
    dependencies,
  );
  return savedAccessRule({ ruleId: findRuleId(outcome.state, rule) ?? newId, rule }, outcome);
}
