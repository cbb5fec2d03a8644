import { expect } from 'chai';
import { areRoleNames, rolesInTenant, sameRoles } from '../../../domain/identity/roles.ts';

describe('roles', () => {
  it('in a tenant are the roles of the membership, and super_admin in every tenant', () => {
    expect(rolesInTenant(['editor'], ['admin'])).to.deep.equal(['admin']);
    expect(rolesInTenant(['super_admin', 'editor'], [])).to.deep.equal(['super_admin']);
    expect(rolesInTenant(['super_admin'], ['editor'])).to.deep.equal(['super_admin', 'editor']);
    expect(rolesInTenant(['editor'], ['super_admin'])).to.deep.equal([]);
  });

  it('are equal in any order', () => {
    expect(sameRoles(['a', 'b'], ['b', 'a', 'a'])).to.equal(true);
    expect(sameRoles(['a'], ['a', 'b'])).to.equal(false);
  });

  it('have names of 1 to 64 letters, digits or _ . : -', () => {
    expect(areRoleNames(['a', 'A_b.c:d-9', 'x'.repeat(64)])).to.equal(true);
    for (const name of ['', 'x'.repeat(65), 'a b', 'ä', 'a/b']) expect(areRoleNames([name])).to.equal(false);
  });
});
