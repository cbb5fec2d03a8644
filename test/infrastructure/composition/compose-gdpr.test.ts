import { expect } from 'chai';
import { v7 } from 'uuid';
import { decideOnUser } from '../../../application/identity/decide-on-user.ts';
import { composeGdpr } from '../../../infrastructure/composition/compose-gdpr.ts';
import { environmentLayer, readSettings } from '../../../infrastructure/configuration/read-settings.ts';
import { createRateCounters } from '../../../infrastructure/postgres/rate-counters.ts';
import { bearer, newUser, setUpOwner, signInAs, useIdentity } from '../../support/identity-process.ts';
import { recordingLogger } from '../../support/recording-logger.ts';

describe('the sweep that finishes erasures', () => {
  const { database, process, admin } = useIdentity();

  it('deletes what a crash or a restored backup left of an erased person, and nothing of other persons', async () => {
    const owner = await setUpOwner(admin);
    const [gone, stays] = [await newUser(admin, owner), await newUser(admin, owner)];
    await signInAs(admin, gone);
    await signInAs(admin, stays);
    const { dependencies, eventStore } = process();
    const logger = recordingLogger();
    const flushKeyRequests = () => process().requests.flush();
    const erasureSweep = (flush = flushKeyRequests) => {
      const { sweeps } = composeGdpr(
        {
          database: database.db(),
          eventStore,
          vault: dependencies.vault,
          settings: readSettings([environmentLayer({})]).settings,
          rateCounters: createRateCounters({ database: database.db(), key: Buffer.alloc(32) }),
          logger,
        },
        { erasureDependencies: dependencies, flushKeyRequests: flush },
      );
      const [sweep] = sweeps;
      return () => sweep!.run(new AbortController().signal);
    };
    const held = async (): Promise<unknown> =>
      database
        .db()
        .query(
          `select (select count(*)::int from operational.person_keys where person_id = any($1) and sealed_key is not null) as keys, (select count(*)::int from operational.sessions where user_id = any($1::uuid[])) as sessions`,
          [[gone.id, stays.id]],
        );
    const finishErasures = erasureSweep();
    expect(await finishErasures()).to.equal(0);
    // The state after a crash: the event is appended, and nothing else has happened.
    const context = {
      tenant: 'default',
      actor: { kind: 'user', id: owner.user.id },
      correlationId: 'c',
      causationId: 'c',
      now: () => new Date(),
      newId: v7,
    } as const;
    const failing = await newUser(admin, owner);
    await signInAs(admin, failing);
    await decideOnUser(
      { userId: failing.id, commandFor: () => ({ kind: 'erase', otherSuperAdmins: 1 }) },
      context,
      dependencies,
    );
    await decideOnUser(
      { userId: gone.id, commandFor: () => ({ kind: 'erase', otherSuperAdmins: 1 }) },
      context,
      dependencies,
    );
    expect(await held()).to.deep.equal([{ keys: 2, sessions: 2 }]);
    // The first erasure fails once: it stops neither the second one nor its own repetition.
    let fails = true;
    const sweepThatFailsOnce = erasureSweep(() => {
      if (!fails) return flushKeyRequests();
      fails = false;
      return Promise.reject(new Error('not now'));
    });
    expect(await sweepThatFailsOnce()).to.equal(1);
    expect(logger.lines.map(({ message }) => message)).to.deep.equal(['an erasure could not be finished']);
    expect(await held()).to.deep.equal([{ keys: 1, sessions: 1 }]);
    expect(await sweepThatFailsOnce()).to.equal(1);
    expect(await finishErasures()).to.equal(0);
    expect([await finishErasures(), await erasureSweep()()]).to.deep.equal([0, 0]);
    expect((await admin('GET', '/api/admin/users', undefined, bearer(owner.token))).text)
      .to.contain(stays.email)
      .and.to.not.contain(gone.email);
  });
});
