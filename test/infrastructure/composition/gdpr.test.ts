import { expect } from 'chai';
import { v7 } from 'uuid';
import { decideOnUser } from '../../../application/identity/decide-on-user.ts';
import { createRateCounters } from '../../../infrastructure/postgres/rate-counters.ts';
import { environmentLayer, readSettings } from '../../../infrastructure/configuration/read-settings.ts';
import { composeGdpr } from '../../../infrastructure/composition/gdpr.ts';
import { bearer, newUser, setUpOwner, signInAs, useIdentity } from '../../api/identity/rig.ts';

describe('erasures that are on record', () => {
  const { database, process, admin } = useIdentity();

  it('are finished when a crash or a restored backup left something of the person, and nobody else is touched', async () => {
    const owner = await setUpOwner(admin);
    const [gone, stays] = [await newUser(admin, owner), await newUser(admin, owner)];
    await signInAs(admin, gone);
    await signInAs(admin, stays);
    const { dependencies, eventStore } = process();
    const gdpr = () => composeGdpr({
      stores: { database: database.db(), eventStore }, settings: readSettings([environmentLayer({})]).settings, identity: dependencies, flushRequests: () => process().requests.flush(),
      rateCounters: createRateCounters({ database: database.db(), key: Buffer.alloc(32) }),
    });
    const held = async (): Promise<unknown> => database.db().query(
      `select (select count(*)::int from operational.person_keys where person_id = any($1) and sealed_key is not null) as keys, (select count(*)::int from operational.sessions where user_id = any($1::uuid[])) as sessions`,
      [[gone.id, stays.id]],
    );
    const sweeper = gdpr();
    expect(await sweeper.finishErasures()).to.equal(0);
    // As a crash leaves it: the fact is there, nothing else has happened.
    const context = { tenant: 'default', actor: { kind: 'user', id: owner.user.id }, correlationId: 'c', causationId: 'c', now: () => new Date(), newId: v7 } as const;
    await decideOnUser(dependencies, { userId: gone.id, command: { kind: 'erase', otherSuperAdmins: 1 } }, context);
    expect(await held()).to.deep.equal([{ keys: 2, sessions: 2 }]);
    expect(await sweeper.finishErasures()).to.equal(1);
    expect(await held()).to.deep.equal([{ keys: 1, sessions: 1 }]);
    expect([await sweeper.finishErasures(), await gdpr().finishErasures()]).to.deep.equal([0, 0]);
    expect((await admin('GET', '/api/admin/users', undefined, bearer(owner.token))).text).to.contain(stays.email).and.to.not.contain(gone.email);
  });
});
