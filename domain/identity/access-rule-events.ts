import { eventParser } from '../event-parser.ts';
import type { DomainEvent } from '../event.ts';
import type { AccessRule } from './access-rule.ts';

/**
 * Events of a tenant's access rules. All rules of a tenant share the stream `access_rule-<tenant>.rules`, so that one
 * decision can refuse a second rule for the same role and content type.
 */
export type AccessRuleEvent =
  | DomainEvent<'AccessRuleCreated', { readonly rule_id: string } & AccessRule>
  | DomainEvent<'AccessRuleChanged', { readonly rule_id: string } & Partial<AccessRule>>
  | DomainEvent<'AccessRuleDeleted', { readonly rule_id: string }>;

export const accessRuleEvents = eventParser<AccessRuleEvent>('access rules', [
  'AccessRuleCreated',
  'AccessRuleChanged',
  'AccessRuleDeleted',
]);
