import { expect } from 'chai';
import fc from 'fast-check';
import { type CompiledAccessRules, compileAccessRules } from '../../../application/identity/compile-access-rules.ts';
import { ACCESS_ACTIONS, type AccessRule, DEFAULT_ACCESS_RULE } from '../../../domain/identity/access-rule.ts';

/** The reference implementation: evaluates the rules one after another for one question. */
function evaluate(
  rules: readonly AccessRule[],
  { roles, schema, action }: Parameters<CompiledAccessRules>[0],
): { allowed: boolean; masked: readonly string[] } {
  if (roles.includes('admin') || roles.includes('super_admin')) return { allowed: true, masked: [] };
  const inForce = roles.flatMap((role) => {
    const named = rules.filter((rule) => rule.role === role && rule.schema_name === schema);
    return named.length > 0 ? named : rules.filter((rule) => rule.role === role && rule.schema_name === '*');
  });
  const granting = inForce.filter(({ actions }) => actions.includes(action) || actions.includes('*'));
  const everyName = new Set(granting.flatMap(({ field_mask }) => field_mask));
  return {
    allowed: granting.length > 0,
    masked: [...everyName].filter((name) => granting.every(({ field_mask }) => field_mask.includes(name))).toSorted(),
  };
}

const role = fc.constantFrom('editor', 'reader', 'author', 'guest');
const schema = fc.constantFrom('post', 'page', 'tag');
const rule: fc.Arbitrary<AccessRule> = fc.record({
  role,
  schema_name: fc.oneof(fc.constant('*'), schema),
  actions: fc.uniqueArray(fc.constantFrom(...ACCESS_ACTIONS, '*' as const), { maxLength: 3 }),
  field_mask: fc.uniqueArray(fc.constantFrom('title', 'body', 'secret'), { maxLength: 3 }),
});
/** A role has one rule for a content type. */
const rules = fc.uniqueArray(rule, {
  maxLength: 12,
  selector: ({ role: name, schema_name }) => `${name} ${schema_name}`,
});
const question = fc.record({
  roles: fc.uniqueArray(
    fc.oneof({ weight: 12, arbitrary: role }, { weight: 1, arbitrary: fc.constantFrom('admin', 'super_admin') }),
    { maxLength: 4 },
  ),
  schema,
  action: fc.constantFrom(...ACCESS_ACTIONS),
});

describe('compiled access rules', () => {
  it('decide as the reference implementation does, for any rules and questions', () => {
    fc.assert(
      fc.property(rules, fc.array(question, { minLength: 1, maxLength: 10 }), (given, questions) => {
        const decide = compileAccessRules(given);
        for (const asked of questions) {
          const { allowed, maskedFields } = decide(asked);
          expect({ allowed, masked: [...maskedFields].toSorted() }).to.deep.equal(evaluate(given, asked));
        }
      }),
      { numRuns: 500 },
    );
  });

  it('of a new tenant allow editors everything and other roles nothing', () => {
    const decide = compileAccessRules([DEFAULT_ACCESS_RULE]);
    for (const action of ACCESS_ACTIONS) {
      expect(decide({ roles: ['editor'], schema: 'post', action })).to.deep.equal({
        allowed: true,
        maskedFields: new Set(),
      });
      expect(decide({ roles: ['reader'], schema: 'post', action }).allowed).to.equal(false);
      expect(decide({ roles: [], schema: 'post', action }).allowed).to.equal(false);
    }
  });
});
