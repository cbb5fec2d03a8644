import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import { checkAccessRule } from '../../domain/identity/access-rule.ts';
import type { AccessRuleCommand, AccessRuleSet } from '../../domain/identity/access-rules.ts';
import { decideOnAccessRules } from './decide-on-access-rules.ts';
import { type AccessRuleInput, type SavedAccessRule, savedAccessRule } from './saved-access-rule.ts';
import type { AccessRuleDependencies } from './tenant-dependencies.ts';

/**
 * Changes the given members of an access rule.
 * @throws `access_rule_not_found`, `validation_failed`, `access_rule_exists`
 */
export async function changeAccessRule(
  { ruleId, changes }: { readonly ruleId: string; readonly changes: Partial<AccessRuleInput> },
  context: CommandContext,
  dependencies: AccessRuleDependencies,
): Promise<SavedAccessRule> {
  const commandFor = (rules: AccessRuleSet): AccessRuleCommand => {
    const current = rules.get(ruleId);
    if (!current) throw refusal('access_rule_not_found');
    return { kind: 'change', ruleId, changes: checkAccessRule({ ...current, ...changes }) };
  };
  const outcome = await decideOnAccessRules({ commandFor }, context, dependencies);
  const rule = outcome.state.get(ruleId);
  if (!rule) throw refusal('access_rule_not_found');
  return savedAccessRule({ ruleId, rule }, outcome);
}
