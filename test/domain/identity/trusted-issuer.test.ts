import { expect } from 'chai';
import fc from 'fast-check';
import { parseTrustedIssuerPolicies } from '../../../domain/identity/trusted-issuer.ts';

const good = { issuer: 'https://issuer.test/', audience: 'content', tenant: 'default', roles: ['editor', 'editor', 'reader'] };
const problemOf = (value: unknown): string | undefined => {
  const parsed = parseTrustedIssuerPolicies(JSON.stringify(value));
  return 'problem' in parsed ? parsed.problem : undefined;
};

describe('policies of trusted issuers', () => {
  it('are read with the issuer as it is compared, and each role once', () => {
    expect(parseTrustedIssuerPolicies(JSON.stringify([good]))).to.deep.equal({ policies: [{ ...good, issuer: 'https://issuer.test', roles: ['editor', 'reader'] }] });
    expect(parseTrustedIssuerPolicies('[]')).to.deep.equal({ policies: [] });
  });

  it('may give one issuer several audiences, each once', () => {
    expect(problemOf([good, { ...good, audience: 'other' }])).to.equal(undefined);
    expect(problemOf([good, { ...good, issuer: 'https://issuer.test' }])).to.equal('policy 2: an earlier one has the same issuer and audience');
  });

  const refused: Readonly<Record<string, readonly [unknown, string]>> = {
    'a policy that is none': [['x'], 'policy 1: it must be an object'],
    'another member': [[{ ...good, role: 'editor' }], 'policy 1: it may hold issuer, audience, tenant, roles only'],
    'no issuer': [[{ ...good, issuer: undefined }], 'policy 1: issuer is required'],
    'no audience': [[good, { ...good, audience: undefined }], 'policy 2: audience is required: tokens that the issuer made for others must not be taken'],
    'an empty audience': [[{ ...good, audience: '' }], 'policy 1: audience is required: tokens that the issuer made for others must not be taken'],
    'a tenant that is no slug': [[{ ...good, tenant: 'Acme' }], 'policy 1: tenant must be the slug of a tenant'],
    'no roles': [[{ ...good, roles: [] }], 'policy 1: roles must be a list of role names'],
    'roles that are none': [[{ ...good, roles: ['a role'] }], 'policy 1: roles must be a list of role names'],
    'a role of admins': [[{ ...good, roles: ['editor', 'admin'] }], 'policy 1: roles must not name admin or super_admin'],
    'the role of super admins': [[{ ...good, roles: ['super_admin'] }], 'policy 1: roles must not name admin or super_admin'],
    'no list': [good, 'set it to a JSON array of {"issuer", "audience", "tenant", "roles"}'],
  };
  for (const [title, [value, problem]] of Object.entries(refused)) {
    it(`are refused with ${title}`, () => {
      expect(problemOf(value)).to.equal(problem);
    });
  }

  it('are refused in words, whatever text it is', () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      const parsed = parseTrustedIssuerPolicies(text);
      expect('problem' in parsed || parsed.policies.length === 0).to.equal(true);
    }));
  });
});
