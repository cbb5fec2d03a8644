import type { AccessAction } from '../../domain/identity/access-rule.ts';

export type { AccessAction } from '../../domain/identity/access-rule.ts';

export type AccessQuestion = {
  readonly tenant: string;
  readonly roles: readonly string[];
  /** Name of the content type. */
  readonly schema: string;
  readonly action: AccessAction;
};

export type AccessDecision = {
  readonly allowed: boolean;
  /** Names of fields hidden from reads and refused in writes. */
  readonly maskedFields: ReadonlySet<string>;
};

/**
 * The compiled access rules in force. Decisions are synchronous and made in memory, because every request needs one.
 */
export type AccessRules = {
  decide(question: AccessQuestion): AccessDecision;
};
