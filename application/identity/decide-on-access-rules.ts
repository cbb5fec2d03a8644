import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { accessRuleEvents } from '../../domain/identity/access-rule-events.ts';
import type { AccessRule } from '../../domain/identity/access-rule.ts';
import { type AccessRuleCommand, type AccessRuleSet, accessRulesDecider } from '../../domain/identity/access-rules.ts';
import { streamName } from '../../domain/stream.ts';
import { type CommandOutcome, handleCommand } from '../handle-command.ts';
import type { IdentityWriteDependencies } from './identity-write-dependencies.ts';
import type { AccessRuleDependencies } from './tenant-dependencies.ts';

/** The rule as a client sends it; not validated. */
export type AccessRuleInput = {
  readonly role: string;
  readonly schema_name: string;
  readonly actions: readonly string[];
  readonly field_mask: readonly string[];
};

export type SavedAccessRule = {
  readonly ruleId: string;
  /** The rule after the write. */
  readonly rule: AccessRule;
  /** Time of the change; undefined when nothing changed. */
  readonly changedAt: Date | undefined;
  /** Position to wait for; undefined when nothing changed. */
  readonly position: GlobalPosition | undefined;
};

/** Stream of a tenant's access rules. */
export function accessRuleStream(tenant: string): string {
  return streamName({ category: 'access_rule', tenant, id: 'rules' });
}

/**
 * Runs a command on the access rules of the tenant, and waits until this process applies the change.
 * @param input `command` makes the command from the current rules; it may throw a refusal.
 * @throws refusals of `accessRulesDecider` and of `command`
 */
export async function decideOnAccessRules(
  { command }: { readonly command: (rules: AccessRuleSet) => AccessRuleCommand },
  context: CommandContext,
  { eventStore, changes, tenants }: AccessRuleDependencies,
): Promise<CommandOutcome<AccessRuleSet>> {
  const outcome = await appendAccessRules({ command }, context, { eventStore });
  if (outcome.position !== undefined) changes.expect(outcome.position);
  await tenants.waitFor(outcome.position);
  return outcome;
}

/**
 * Runs a command on the access rules of the tenant without waiting. `command` returns undefined to change nothing.
 * @throws refusals of `accessRulesDecider` and of `command`
 */
export function appendAccessRules(
  { command }: { readonly command: (rules: AccessRuleSet, revision: number) => AccessRuleCommand | undefined },
  context: CommandContext,
  { eventStore }: Pick<IdentityWriteDependencies, 'eventStore'>,
): Promise<CommandOutcome<AccessRuleSet>> {
  return handleCommand(
    {
      stream: accessRuleStream(context.tenant),
      decider: accessRulesDecider,
      parse: accessRuleEvents.parse,
      decide(rules, revision) {
        const decided = command(rules, revision);
        return decided ? accessRulesDecider.decide(rules, decided) : [];
      },
    },
    context,
    { eventStore },
  );
}

/** The answer to a command that saved a rule. */
export function savedAccessRule(
  { ruleId, rule }: { readonly ruleId: string; readonly rule: AccessRule },
  { events, position }: CommandOutcome<AccessRuleSet>,
): SavedAccessRule {
  const [changed] = events;
  return { ruleId, rule, changedAt: changed && new Date(changed.metadata.occurred_at), position };
}
