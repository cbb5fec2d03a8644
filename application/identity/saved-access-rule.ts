import type { GlobalPosition } from '../../domain/event.ts';
import type { AccessRule } from '../../domain/identity/access-rule.ts';
import type { AccessRuleSet } from '../../domain/identity/access-rules.ts';
import type { CommandOutcome } from '../handle-command.ts';

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

/** The response to a command that saved a rule. */
export function savedAccessRule(
  { ruleId, rule }: { readonly ruleId: string; readonly rule: AccessRule },
  { events, position }: CommandOutcome<AccessRuleSet>,
): SavedAccessRule {
  const [changed] = events;
  return { ruleId, rule, changedAt: changed && new Date(changed.metadata.occurred_at), position };
}
