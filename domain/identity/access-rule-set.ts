import type { Decider } from '../decider.ts';
import { refusal } from '../errors.ts';
import type { DomainEvent } from '../event.ts';
import type { JsonObject } from '../json.ts';
import type { AccessRule } from './access-rule.ts';

/**
 * Events of a tenant's access rules, one stream a tenant (`access_rule-<tenant>.rules`): that a role has one rule for a content type is
 * decided where all rules are known.
 */
export type AccessRuleEvent =
  | DomainEvent<'AccessRuleCreated', { readonly rule_id: string } & AccessRule>
  | DomainEvent<'AccessRuleChanged', { readonly rule_id: string } & Partial<AccessRule>>
  | DomainEvent<'AccessRuleDeleted', { readonly rule_id: string }>;

export const ACCESS_RULE_EVENT_TYPES: ReadonlySet<string> = new Set<AccessRuleEvent['type']>(['AccessRuleCreated', 'AccessRuleChanged', 'AccessRuleDeleted']);

/** Narrows a stored event. @throws TypeError for a type that is no event of access rules */
export function parseAccessRuleEvent(event: { readonly type: string; readonly data: JsonObject }): AccessRuleEvent {
  if (!ACCESS_RULE_EVENT_TYPES.has(event.type)) throw new TypeError(`no event of an access rule: ${event.type}`);
  return { type: event.type, data: event.data } as AccessRuleEvent;
}

/** A tenant's rules by id. */
export type AccessRuleSet = ReadonlyMap<string, AccessRule>;

export type AccessRuleCommand =
  /** The rule of that role and content type, whether there is one or not. `newId` is that of a new one. */
  | { readonly kind: 'put'; readonly rule: AccessRule; readonly newId: string }
  | { readonly kind: 'change'; readonly ruleId: string; readonly changes: Partial<AccessRule> }
  | { readonly kind: 'delete'; readonly ruleId: string }
  /** A content type has another name: its rules follow. A rule that stood for the new name before gives way. */
  | { readonly kind: 'rename_schema'; readonly from: string; readonly to: string };

/** Decides on a tenant's rules (spec 4 A, access rules). @throws `access_rule_not_found`, `access_rule_exists` */
export function decideAccessRules(command: AccessRuleCommand, rules: AccessRuleSet): readonly AccessRuleEvent[] {
  switch (command.kind) {
    case 'put': {
      const known = findRule(rules, command.rule);
      if (known === undefined) return [{ type: 'AccessRuleCreated', data: { rule_id: command.newId, ...command.rule } }];
      return changed(rules, known, command.rule);
    }
    case 'change': {
      const current = rules.get(command.ruleId);
      if (!current) throw refusal('access_rule_not_found');
      const other = findRule(rules, { ...current, ...command.changes });
      if (other !== undefined && other !== command.ruleId) throw refusal('access_rule_exists');
      return changed(rules, command.ruleId, command.changes);
    }
    case 'delete':
      if (!rules.has(command.ruleId)) throw refusal('access_rule_not_found');
      return [{ type: 'AccessRuleDeleted', data: { rule_id: command.ruleId } }];
    case 'rename_schema':
      return [...rules].filter(([, { schema_name }]) => schema_name === command.from).flatMap(([id, { role }]) => {
        const inTheWay = findRule(rules, { role, schema_name: command.to });
        return [
          ...(inTheWay === undefined ? [] : [{ type: 'AccessRuleDeleted', data: { rule_id: inTheWay } } as const]),
          { type: 'AccessRuleChanged', data: { rule_id: id, schema_name: command.to } } as const,
        ];
      });
  }
}

/** Id of the rule that a role has for a content type. */
export function findRule(rules: AccessRuleSet, { role, schema_name }: Pick<AccessRule, 'role' | 'schema_name'>): string | undefined {
  for (const [id, rule] of rules) if (rule.role === role && rule.schema_name === schema_name) return id;
  return undefined;
}

export const accessRuleDecider: Decider<AccessRuleSet, AccessRuleEvent> = {
  initialState: () => new Map(),
  evolve(rules, { type, data: { rule_id: id, ...rule } }) {
    const next = new Map(rules);
    if (type === 'AccessRuleDeleted') next.delete(id);
    else next.set(id, { role: '', schema_name: '', actions: [], field_mask: [], ...rules.get(id), ...rule });
    return next;
  },
};

/** Only what differs is a fact. */
function changed(rules: AccessRuleSet, id: string, wanted: Partial<AccessRule>): readonly AccessRuleEvent[] {
  const current = rules.get(id);
  const { role, schema_name, actions, field_mask } = wanted;
  const changes = {
    ...(role === undefined || role === current?.role ? {} : { role }),
    ...(schema_name === undefined || schema_name === current?.schema_name ? {} : { schema_name }),
    ...(actions === undefined || sameNames(actions, current?.actions) ? {} : { actions }),
    ...(field_mask === undefined || sameNames(field_mask, current?.field_mask) ? {} : { field_mask }),
  };
  return Object.keys(changes).length === 0 ? [] : [{ type: 'AccessRuleChanged', data: { rule_id: id, ...changes } }];
}

function sameNames(a: readonly string[], b: readonly string[] = []): boolean {
  return a.length === b.length && a.every((name, at) => name === b[at]);
}
