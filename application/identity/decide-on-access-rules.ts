import type { CommandContext } from '../../domain/context.ts';
import { accessRuleEvents } from '../../domain/identity/access-rule-events.ts';
import { type AccessRuleCommand, type AccessRuleSet, accessRulesDecider } from '../../domain/identity/access-rules.ts';
import { streamName } from '../../domain/stream.ts';
import { type CommandFor, type CommandOutcome, decideBy, handleCommand } from '../handle-command.ts';
import type { IdentityWriteDependencies } from './identity-write-dependencies.ts';
import type { AccessRuleDependencies } from './tenant-dependencies.ts';

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
