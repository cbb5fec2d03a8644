import type { Rule } from 'eslint';

export const routeMembers: Rule.RuleModule;
