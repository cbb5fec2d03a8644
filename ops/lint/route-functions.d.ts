import type { Rule } from 'eslint';

export const routeFunctions: Rule.RuleModule;
