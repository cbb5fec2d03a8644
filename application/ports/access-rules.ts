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

/** Access rules in force, compiled: answered from memory, no promise on the hot path (rule 14). */
export type AccessRules = {
  decide(question: AccessQuestion): AccessDecision;
};
