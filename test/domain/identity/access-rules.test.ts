import { expect } from 'chai';
import type { AccessRuleEvent } from '../../../domain/identity/access-rule-events.ts';
import { type AccessRule, checkAccessRule } from '../../../domain/identity/access-rule.ts';
import { type AccessRuleCommand, accessRulesDecider } from '../../../domain/identity/access-rules.ts';
import { given } from '../../support/given.ts';

describe('access rules of a tenant', () => {
  const rule: AccessRule = { role: 'editor', schema_name: 'post', actions: ['read'], field_mask: ['secret'] };
  const created = (id: string, differing: Partial<AccessRule> = {}): AccessRuleEvent => ({
    type: 'AccessRuleCreated',
    data: { rule_id: id, ...rule, ...differing },
  });
  const changed = (id: string, changes: Partial<AccessRule>): AccessRuleEvent => ({
    type: 'AccessRuleChanged',
    data: { rule_id: id, ...changes },
  });
  const deleted = (id: string): AccessRuleEvent => ({ type: 'AccessRuleDeleted', data: { rule_id: id } });
  const rename: AccessRuleCommand = { kind: 'rename_schema', from: 'post', to: 'article' };

  it('get a new rule', () => {
    given(accessRulesDecider, [])
      .when({ kind: 'put', rule, newId: 'a' })
      .thenAppends([created('a')]);
  });
  it('replace the existing rule of the same role and content type', () => {
    given(accessRulesDecider, [created('a')])
      .when({ kind: 'put', rule: { ...rule, actions: ['*'], field_mask: [] }, newId: 'b' })
      .thenAppends([changed('a', { actions: ['*'], field_mask: [] })]);
  });
  it('do not change when the same rule is put again', () => {
    given(accessRulesDecider, [created('a')])
      .when({ kind: 'put', rule, newId: 'b' })
      .thenAppendsNothing();
  });
  it('record only the members of a rule that change', () => {
    given(accessRulesDecider, [created('a')])
      .when({ kind: 'change', ruleId: 'a', changes: { ...rule, role: 'reader' } })
      .thenAppends([changed('a', { role: 'reader' })]);
  });
  it('refuse a second rule for one role and content type', () => {
    given(accessRulesDecider, [created('a'), created('b', { role: 'reader' })])
      .when({ kind: 'change', ruleId: 'b', changes: { role: 'editor' } })
      .thenRefuses('access_rule_exists');
  });
  it('refuse to change a rule that does not exist', () => {
    given(accessRulesDecider, [])
      .when({ kind: 'change', ruleId: 'a', changes: {} })
      .thenRefuses('access_rule_not_found');
  });
  it('lose a deleted rule', () => {
    given(accessRulesDecider, [created('a')])
      .when({ kind: 'delete', ruleId: 'a' })
      .thenAppends([deleted('a')]);
  });
  it('refuse to delete a rule twice', () => {
    given(accessRulesDecider, [created('a'), deleted('a')])
      .when({ kind: 'delete', ruleId: 'a' })
      .thenRefuses('access_rule_not_found');
  });
  it('name a renamed content type by its new name', () => {
    given(accessRulesDecider, [created('a'), created('b', { role: 'reader' }), created('c', { schema_name: 'page' })])
      .when(rename)
      .thenAppends([changed('a', { schema_name: 'article' }), changed('b', { schema_name: 'article' })]);
  });
  it('lose a rule for the new name when a content type with rules gets that name', () => {
    given(accessRulesDecider, [created('a'), created('b', { schema_name: 'article' })])
      .when(rename)
      .thenAppends([deleted('b'), changed('a', { schema_name: 'article' })]);
  });
  it('do not change when a rename is repeated', () => {
    given(accessRulesDecider, [created('a', { schema_name: 'article' })])
      .when(rename)
      .thenAppendsNothing();
  });
});

describe('a checked access rule', () => {
  it('contains every action and field once', () => {
    expect(
      checkAccessRule({ role: 'a.b:c-d_E', schema_name: '*', actions: ['read', 'read', '*'], field_mask: ['a', 'a'] }),
    ).to.deep.equal({ role: 'a.b:c-d_E', schema_name: '*', actions: ['read', '*'], field_mask: ['a'] });
  });
  it('is refused with a reason for every invalid member', () => {
    const refuse = () =>
      checkAccessRule({ role: 'no spaces', schema_name: 'No', actions: ['fly'], field_mask: ['"; drop'] });
    expect(refuse)
      .to.throw()
      .with.property('fields')
      .that.has.deep.members([
        { field: 'role', message: 'role must be 1 to 64 letters, digits or _ . : -' },
        { field: 'schema_name', message: 'must be the name of a content type or *' },
        { field: 'actions', message: 'must be of read, create, update, delete, publish, *' },
        { field: 'field_mask', message: 'must be names of fields' },
      ]);
  });
});
