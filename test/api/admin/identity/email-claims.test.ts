import { expect } from 'chai';
import { userStream } from '../../../../application/identity/decide-on-user.ts';
import { FIRST_ACCOUNT, claimsOfUser, emailClaim } from '../../../../application/identity/user-claims.ts';
import { createClaims } from '../../../../infrastructure/postgres/claims.ts';
import { OWNER, bearer, claimsKey, newUser, setUpOwner, useIdentity } from '../../../support/identity-process.ts';
import { SETUP_TOKEN } from '../../../support/owner.ts';

describe('the e-mail claims of users', () => {
  const { admin, database, process } = useIdentity();
  const claims = () => createClaims({ database: database.db(), key: claimsKey() });

  it("are settled by the owner's stream after a crash: setup is open again, and existing users stay", async () => {
    const dead = userStream('01a1f93d-7e91-7733-aa7d-9c2555142802');
    await claims().claim({ owner: dead, claimed: [FIRST_ACCOUNT, emailClaim(OWNER.email.toLowerCase())] });
    const held = await admin('POST', '/api/admin/setup', { ...OWNER, setup_token: SETUP_TOKEN });
    expect(held.status).to.equal(409);
    const heldBy = (stream: string) => claimsOfUser(stream, process().dependencies);
    expect(await claims().reap({ olderThanSeconds: 0, heldBy })).to.equal(2);

    const owner = await setUpOwner(admin);
    const user = await newUser(admin, owner);
    expect(await heldBy(userStream(owner.user.id))).to.deep.equal([FIRST_ACCOUNT, emailClaim('owner@palimpsest.test')]);
    expect(await heldBy(userStream(user.id))).to.deep.equal([emailClaim(user.email)]);
    await admin('DELETE', `/api/admin/users/${user.id}`, undefined, bearer(owner.token));
    expect(await heldBy(userStream(user.id))).to.be.empty;
    expect(await claims().reap({ olderThanSeconds: 0, heldBy })).to.equal(0);
  });
});
