import { expect } from 'chai';
import fc from 'fast-check';
import { parseTrustedIssuerPolicies } from '../../../domain/identity/trusted-issuer.ts';

const good = {
  issuer: 'https://issuer.test/',
  audience: 'content',
  tenant: 'default',
  roles: ['editor', 'editor', 'reader'],
};
const problemOf = (value: unknown): string | undefined => {
  const parsed = parseTrustedIssuerPolicies(JSON.stringify(value));
  return 'problem' in parsed ? parsed.problem : undefined;
};

describe('the policies of trusted issuers', () => {
  it('are parsed with the normalised issuer and each role once', () => {
    expect(parseTrustedIssuerPolicies(JSON.stringify([good]))).to.deep.equal({
      policies: [{ ...good, issuer: 'https://issuer.test', roles: ['editor', 'reader'] }],
    });
    expect(parseTrustedIssuerPolicies('[]')).to.deep.equal({ policies: [] });
  });

  it('may contain several audiences of one issuer, each once', () => {
    expect(problemOf([good, { ...good, audience: 'other' }])).to.equal(undefined);
    expect(problemOf([good, { ...good, issuer: 'https://issuer.test' }])).to.equal(
      'policy 2: an earlier one has the same issuer and audience',
    );
  });

  const refused: Readonly<Record<string, readonly [unknown, string]>> = {
    'a policy that is not an object': [['x'], 'policy 1: it must be an object'],
    'an unknown member': [
      [{ ...good, role: 'editor' }],
      'policy 1: it may contain issuer, audience, tenant, roles only',
    ],
    'no issuer': [[{ ...good, issuer: undefined }], 'policy 1: issuer is required'],
    'no audience': [
      [good, { ...good, audience: undefined }],
      'policy 2: audience is required: tokens that the issuer made for others must not be taken',
    ],
    'an empty audience': [
      [{ ...good, audience: '' }],
      'policy 1: audience is required: tokens that the issuer made for others must not be taken',
    ],
    'an invalid tenant slug': [[{ ...good, tenant: 'Acme' }], 'policy 1: tenant must be the slug of a tenant'],
    'no roles': [[{ ...good, roles: [] }], 'policy 1: roles must be a list of role names'],
    'an invalid role name': [[{ ...good, roles: ['a role'] }], 'policy 1: roles must be a list of role names'],
    'the admin role': [[{ ...good, roles: ['editor', 'admin'] }], 'policy 1: roles must not name admin or super_admin'],
    'the super_admin role': [
      [{ ...good, roles: ['super_admin'] }],
      'policy 1: roles must not name admin or super_admin',
    ],
    'a value that is not a list': [good, 'set it to a JSON array of {"issuer", "audience", "tenant", "roles"}'],
  };
  for (const [title, [value, problem]] of Object.entries(refused)) {
    it(`are refused with ${title}`, () => {
      expect(problemOf(value)).to.equal(problem);
    });
  }

  it('are refused with a message for every invalid text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        const parsed = parseTrustedIssuerPolicies(text);
        expect('problem' in parsed || parsed.policies.length === 0).to.equal(true);
      }),
    );
  });
});
