import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { AccessRule } from '../../domain/identity/access-rule.ts';
import { FIRST_RULE, checkAccessRule } from '../../domain/identity/access-rule.ts';
import type { AccessRuleEvent, AccessRuleSet } from '../../domain/identity/access-rule-set.ts';
import { accessRuleDecider, decideAccessRules, findRule, parseAccessRuleEvent } from '../../domain/identity/access-rule-set.ts';
import { refusal } from '../../domain/errors.ts';
import { streamName } from '../../domain/stream.ts';
import type { CommandOutcome } from '../handle-command.ts';
import { handleCommand } from '../handle-command.ts';
import type { IdentityDependencies } from './dependencies.ts';

type Needs = Pick<IdentityDependencies, 'eventStore' | 'changes' | 'tenants'>;

export type SavedAccessRule = {
  readonly ruleId: string;
  /** As the write left it. */
  readonly rule: AccessRule;
  /** When; undefined where nothing changed. */
  readonly changedAt: Date | undefined;
  readonly position: GlobalPosition | undefined;
};

/** The rule as a client sends it; unchecked. */
export type AccessRuleInput = { readonly role: string; readonly schema_name: string; readonly actions: readonly string[]; readonly field_mask: readonly string[] };

/** Stream of a tenant's access rules. */
export function accessRuleStream(tenant: string): string {
  return streamName({ category: 'access_rule', tenant, id: 'rules' });
}

/** Makes a role's rule for a content type, in place of the one there is (spec 4 A, access rules). @throws `validation_failed` */
export async function putAccessRule(dependencies: Needs, input: AccessRuleInput, context: CommandContext): Promise<SavedAccessRule> {
  const rule = checkAccessRule(input);
  const newId = context.newId();
  const outcome = await decideOnRules(dependencies, (rules) => decideAccessRules({ kind: 'put', rule, newId }, rules), context);
  return saved(outcome, findRule(outcome.state, rule) ?? newId, rule);
}

/** Changes what is given of a rule. @throws `access_rule_not_found`, `validation_failed`, `access_rule_exists` */
export async function changeAccessRule(dependencies: Needs, { ruleId, changes }: { readonly ruleId: string; readonly changes: Partial<AccessRuleInput> }, context: CommandContext): Promise<SavedAccessRule> {
  const decide = (rules: AccessRuleSet): readonly AccessRuleEvent[] => {
    const current = rules.get(ruleId);
    if (!current) throw refusal('access_rule_not_found');
    return decideAccessRules({ kind: 'change', ruleId, changes: checkAccessRule({ ...current, ...changes }) }, rules);
  };
  const outcome = await decideOnRules(dependencies, decide, context);
  const rule = outcome.state.get(ruleId);
  if (!rule) throw refusal('access_rule_not_found');
  return saved(outcome, ruleId, rule);
}

/** Deletes a rule. @returns position to wait for @throws `access_rule_not_found` */
export async function deleteAccessRule(dependencies: Needs, { ruleId }: { readonly ruleId: string }, context: CommandContext): Promise<GlobalPosition | undefined> {
  return (await decideOnRules(dependencies, (rules) => decideAccessRules({ kind: 'delete', ruleId }, rules), context)).position;
}

/** Lets the rules for a content type follow it to another name. @returns position to wait for, undefined where no rule names it */
export async function renameInAccessRules(dependencies: Needs, names: { readonly from: string; readonly to: string }, context: CommandContext): Promise<GlobalPosition | undefined> {
  return (await decideOnRules(dependencies, (rules) => decideAccessRules({ kind: 'rename_schema', ...names }, rules), context)).position;
}

/** The rule that a tenant begins with; nothing where the tenant has had rules, whatever became of them. */
export async function giveFirstRule({ eventStore }: Pick<Needs, 'eventStore'>, tenant: string, context: CommandContext): Promise<void> {
  await appendRules(
    { eventStore },
    (rules, revision) => (revision < 0 ? decideAccessRules({ kind: 'put', rule: FIRST_RULE, newId: context.newId() }, rules) : []),
    { ...context, tenant },
  );
}

/** One decision on the rules of the context's tenant; resolves when this process goes by it. */
async function decideOnRules({ eventStore, changes, tenants }: Needs, decide: (rules: AccessRuleSet) => readonly AccessRuleEvent[], context: CommandContext): Promise<CommandOutcome<AccessRuleSet>> {
  const outcome = await appendRules({ eventStore }, decide, context);
  if (outcome.position !== undefined) changes.expect(outcome.position);
  await tenants.caughtUp(outcome.position);
  return outcome;
}

function saved({ events, position }: CommandOutcome<AccessRuleSet>, ruleId: string, rule: AccessRule): SavedAccessRule {
  const [changed] = events;
  return { ruleId, rule, changedAt: changed && new Date(changed.metadata.occurred_at), position };
}

function appendRules({ eventStore }: Pick<Needs, 'eventStore'>, decide: (rules: AccessRuleSet, revision: number) => readonly AccessRuleEvent[], context: CommandContext): Promise<CommandOutcome<AccessRuleSet>> {
  return handleCommand<AccessRuleSet, AccessRuleEvent>({ eventStore, stream: accessRuleStream(context.tenant), decider: accessRuleDecider, parse: parseAccessRuleEvent, context, decide });
}
