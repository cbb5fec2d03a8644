import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { accessRuleEvents } from '../../domain/identity/access-rule-events.ts';
import type { AccessRule } from '../../domain/identity/access-rule.ts';
import { type AccessRuleCommand, type AccessRuleSet, accessRulesDecider } from '../../domain/identity/access-rules.ts';
import { streamName } from '../../domain/stream.ts';
import { type CommandFor, type CommandOutcome, decideBy, handleCommand } from '../handle-command.ts';
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
 * @throws refusals of `accessRulesDecider` and of `commandFor`
 */
export async function decideOnAccessRules(
  { commandFor }: { readonly commandFor: CommandFor<AccessRuleSet, AccessRuleCommand> },
  context: CommandContext,
  { eventStore, changes, tenants }: AccessRuleDependencies,
): Promise<CommandOutcome<AccessRuleSet>> {
  const outcome = await appendAccessRules({ commandFor }, context, { eventStore });
  if (outcome.position !== undefined) changes.expect(outcome.position);
  await tenants.waitFor(outcome.position);
  return outcome;
}

/**
 * Runs a command on the access rules of the tenant without waiting.
 * @throws refusals of `accessRulesDecider` and of `commandFor`
 */
export function appendAccessRules(
  { commandFor }: { readonly commandFor: CommandFor<AccessRuleSet, AccessRuleCommand> },
  context: CommandContext,
  { eventStore }: Pick<IdentityWriteDependencies, 'eventStore'>,
): Promise<CommandOutcome<AccessRuleSet>> {
  return handleCommand(
    {
      stream: accessRuleStream(context.tenant),
      decider: accessRulesDecider,
      parse: accessRuleEvents.parse,
      decide: decideBy(accessRulesDecider, commandFor),
    },
    context,
    { eventStore },
  );
}

/** The response to a command that saved a rule. */
export function savedAccessRule(
  { ruleId, rule }: { readonly ruleId: string; readonly rule: AccessRule },
  { events, position }: CommandOutcome<AccessRuleSet>,
): SavedAccessRule {
  const [changed] = events;
  return { ruleId, rule, changedAt: changed && new Date(changed.metadata.occurred_at), position };
}
