import type { Decider } from '../decider.ts';
import { refusal } from '../errors.ts';
import { sameList } from '../same-list.ts';
import type { AccessRuleEvent } from './access-rule-events.ts';
import type { AccessRule } from './access-rule.ts';

/** A tenant's rules by rule id. */
export type AccessRuleSet = ReadonlyMap<string, AccessRule>;

export type AccessRuleCommand =
  /** Replaces the rule of that role and content type, or creates it with the id `newId`. */
  | { readonly kind: 'put'; readonly rule: AccessRule; readonly newId: string }
  | { readonly kind: 'change'; readonly ruleId: string; readonly changes: Partial<AccessRule> }
  | { readonly kind: 'delete'; readonly ruleId: string }
  /** Moves the rules of a renamed content type to its new name. They replace rules that the new name already had. */
  | { readonly kind: 'rename_schema'; readonly from: string; readonly to: string };

export const accessRulesDecider: Decider<AccessRuleSet, AccessRuleCommand, AccessRuleEvent> = {
  initialState,
  decide,
  evolve,
};

function initialState(): AccessRuleSet {
  return new Map();
}

/**
 * A role has at most one rule for a content type. Events carry only the members that change.
 * @throws `access_rule_not_found`, `access_rule_exists`
 */
function decide(rules: AccessRuleSet, command: AccessRuleCommand): readonly AccessRuleEvent[] {
  switch (command.kind) {
    case 'put': {
      const existing = findRuleId(rules, command.rule);
      if (existing === undefined)
        return [{ type: 'AccessRuleCreated', data: { rule_id: command.newId, ...command.rule } }];
      return changeEvents(rules, existing, command.rule);
    }
    case 'change': {
      const current = rules.get(command.ruleId);
      if (!current) throw refusal('access_rule_not_found');
      const other = findRuleId(rules, { ...current, ...command.changes });
      if (other !== undefined && other !== command.ruleId) throw refusal('access_rule_exists');
      return changeEvents(rules, command.ruleId, command.changes);
    }
    case 'delete':
      if (!rules.has(command.ruleId)) throw refusal('access_rule_not_found');
      return [{ type: 'AccessRuleDeleted', data: { rule_id: command.ruleId } }];
    case 'rename_schema':
      return [...rules]
        .filter(([, { schema_name }]) => schema_name === command.from)
        .flatMap(([id, { role }]) => {
          const replaced = findRuleId(rules, { role, schema_name: command.to });
          return [
            ...(replaced === undefined ? [] : [{ type: 'AccessRuleDeleted', data: { rule_id: replaced } } as const]),
            { type: 'AccessRuleChanged', data: { rule_id: id, schema_name: command.to } } as const,
          ];
        });
  }
}

function evolve(rules: AccessRuleSet, { type, data: { rule_id: id, ...rule } }: AccessRuleEvent): AccessRuleSet {
  const next = new Map(rules);
  if (type === 'AccessRuleDeleted') next.delete(id);
  else next.set(id, { role: '', schema_name: '', actions: [], field_mask: [], ...rules.get(id), ...rule });
  return next;
}

/** Id of the rule that a role has for a content type. */
export function findRuleId(
  rules: AccessRuleSet,
  { role, schema_name }: Pick<AccessRule, 'role' | 'schema_name'>,
): string | undefined {
  for (const [id, rule] of rules) if (rule.role === role && rule.schema_name === schema_name) return id;
  return undefined;
}

function changeEvents(rules: AccessRuleSet, id: string, settings: Partial<AccessRule>): readonly AccessRuleEvent[] {
  const current = rules.get(id);
  const { role, schema_name, actions, field_mask } = settings;
  const changes = {
    ...(role === undefined || role === current?.role ? {} : { role }),
    ...(schema_name === undefined || schema_name === current?.schema_name ? {} : { schema_name }),
    ...(actions === undefined || sameList(actions, current?.actions ?? []) ? {} : { actions }),
    ...(field_mask === undefined || sameList(field_mask, current?.field_mask ?? []) ? {} : { field_mask }),
  };
  return Object.keys(changes).length === 0 ? [] : [{ type: 'AccessRuleChanged', data: { rule_id: id, ...changes } }];
}
