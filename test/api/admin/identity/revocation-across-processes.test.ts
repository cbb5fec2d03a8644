import { expect } from 'chai';
import type { Signals } from '../../../../application/ports/signals.ts';
import { openInProcessSignals } from '../../../../infrastructure/signals/in-process.ts';
import { eventually } from '../../../support/eventually.ts';
import { bearer, newUser, setUpOwner, signInAs, useIdentityPair } from '../../../support/identity-process.ts';
import type { Session } from '../../../support/owner.ts';

/** Signals that never arrive. */
const lostSignals: Signals = {
  publish: () => undefined,
  subscribe: () => () => undefined,
  close: () => Promise.resolve(),
};

for (const [title, signals] of [
  ['with working signals', () => openInProcessSignals()],
  ['with lost signals', () => lostSignals],
] as const) {
  describe(`two processes ${title}`, () => {
    const { processes } = useIdentityPair({ signals: signals() });
    let owner: Session;
    before(async () => {
      owner = await setUpOwner(processes()[0].admin);
    });

    it('both refuse a revoked key, an ended session and a disabled user', async () => {
      const [here, there] = processes();
      const user = await newUser(here.admin, owner);
      const [leaving, staying] = [await signInAs(here.admin, user), await signInAs(here.admin, user)];
      const key = (
        await here.admin('POST', '/api/admin/api-keys', { name: 'x', scopes: ['*:*'] }, bearer(owner.token))
      ).json<{ id: string; raw_key: string }>();
      const read = async (headers: Readonly<Record<string, string>>) =>
        (await there.content('GET', '/api/v1/content/post', undefined, headers)).status;
      const ends = async (
        headers: Readonly<Record<string, string>>,
        end: () => Promise<{ readonly status: number }>,
      ) => {
        await eventually(async () => {
          expect(await read(headers)).to.equal(200);
        });
        expect((await end()).status).to.be.oneOf([200, 204]);
        await eventually(async () => {
          expect(await read(headers)).to.equal(401);
        });
      };
      await ends({ 'x-api-key': key.raw_key }, () =>
        here.admin('POST', `/api/admin/api-keys/${key.id}/revoke`, undefined, bearer(owner.token)),
      );
      await ends(bearer(leaving.token), () =>
        here.admin('POST', '/api/admin/auth/logout', undefined, bearer(leaving.token)),
      );
      await ends(bearer(staying.token), () =>
        here.admin('PUT', `/api/admin/users/${user.id}/state`, { disabled: true }, bearer(owner.token)),
      );
    });
  });
}
