import { expect } from 'chai';
import { checkAccessRule } from '../../../domain/identity/access-rule.ts';
import type { AccessRule } from '../../../domain/identity/access-rule.ts';
import type { AccessRuleCommand, AccessRuleEvent } from '../../../domain/identity/access-rule-set.ts';
import { accessRuleDecider, decideAccessRules } from '../../../domain/identity/access-rule-set.ts';

const rule: AccessRule = { role: 'editor', schema_name: 'post', actions: ['read'], field_mask: ['secret'] };
const made = (id: string, given: Partial<AccessRule> = {}): AccessRuleEvent => ({ type: 'AccessRuleCreated', data: { rule_id: id, ...rule, ...given } });
const changed = (id: string, what: Partial<AccessRule>): AccessRuleEvent => ({ type: 'AccessRuleChanged', data: { rule_id: id, ...what } });

const cases: Readonly<Record<string, { given: readonly AccessRuleEvent[]; when: AccessRuleCommand; then: readonly AccessRuleEvent[] | string }>> = {
  'gain one': { given: [], when: { kind: 'put', rule, newId: 'a' }, then: [made('a')] },
  'keep the one of the same role and content type, which changes': {
    given: [made('a')], when: { kind: 'put', rule: { ...rule, actions: ['*'], field_mask: [] }, newId: 'b' }, then: [changed('a', { actions: ['*'], field_mask: [] })],
  },
  'do not change into themselves': { given: [made('a')], when: { kind: 'put', rule, newId: 'b' }, then: [] },
  'change in what differs': { given: [made('a')], when: { kind: 'change', ruleId: 'a', changes: { ...rule, role: 'reader' } }, then: [changed('a', { role: 'reader' })] },
  'never are two for one role and content type': { given: [made('a'), made('b', { role: 'reader' })], when: { kind: 'change', ruleId: 'b', changes: { role: 'editor' } }, then: 'access_rule_exists' },
  'change where they are': { given: [], when: { kind: 'change', ruleId: 'a', changes: {} }, then: 'access_rule_not_found' },
  'lose one': { given: [made('a')], when: { kind: 'delete', ruleId: 'a' }, then: [{ type: 'AccessRuleDeleted', data: { rule_id: 'a' } }] },
  'lose one once': { given: [made('a'), { type: 'AccessRuleDeleted', data: { rule_id: 'a' } }], when: { kind: 'delete', ruleId: 'a' }, then: 'access_rule_not_found' },
  'follow a content type to another name': {
    given: [made('a'), made('b', { role: 'reader' }), made('c', { schema_name: 'page' })], when: { kind: 'rename_schema', from: 'post', to: 'article' },
    then: [changed('a', { schema_name: 'article' }), changed('b', { schema_name: 'article' })],
  },
  'that stood for the new name give way': {
    given: [made('a'), made('b', { schema_name: 'article' })], when: { kind: 'rename_schema', from: 'post', to: 'article' },
    then: [{ type: 'AccessRuleDeleted', data: { rule_id: 'b' } }, changed('a', { schema_name: 'article' })],
  },
  'follow once': { given: [made('a', { schema_name: 'article' })], when: { kind: 'rename_schema', from: 'post', to: 'article' }, then: [] },
};

describe('access rules of a tenant', () => {
  for (const [title, { given, when, then }] of Object.entries(cases)) {
    it(title, () => {
      const decide = () => decideAccessRules(when, given.reduce(accessRuleDecider.evolve, accessRuleDecider.initialState()));
      if (typeof then === 'string') expect(decide).to.throw().with.property('code', then);
      else expect(decide()).to.deep.equal(then);
    });
  }

  it('hold names of the grammars only, each once', () => {
    expect(checkAccessRule({ role: 'a.b:c-d_E', schema_name: '*', actions: ['read', 'read', '*'], field_mask: ['a', 'a'] })).to.deep.equal({ role: 'a.b:c-d_E', schema_name: '*', actions: ['read', '*'], field_mask: ['a'] });
    const refuse = () => checkAccessRule({ role: 'no spaces', schema_name: 'No', actions: ['fly'], field_mask: ['"; drop'] });
    expect(refuse).to.throw().with.property('fields').that.has.deep.members([
      { field: 'role', message: 'role must be 1 to 64 letters, digits or _ . : -' },
      { field: 'schema_name', message: 'must be the name of a content type or *' },
      { field: 'actions', message: 'must be of read, create, update, delete, publish, *' },
      { field: 'field_mask', message: 'must be names of fields' },
    ]);
  });
});
