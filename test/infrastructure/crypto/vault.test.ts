import { expect } from 'chai';
import fc from 'fast-check';
import { v7 } from 'uuid';
import type { SealedValue } from '../../../domain/sealed-value.ts';
import { createVault } from '../../../infrastructure/crypto/vault.ts';
import { openInProcessSignals } from '../../../infrastructure/signals/in-process.ts';
import { useDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { rejectionOf } from '../../support/rejection.ts';

const KEY = '0b9d4c6e8f7a41253c6b8d9e0f1a2b3c4d5e6f70';

describe('the vault', () => {
  const database = useDatabase();
  const vault = (encryptionKey = KEY) => createVault({ database: database.db(), encryptionKey });

  it('opens every text that it sealed, and never returns the same sealed value twice', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (clear, purpose) => {
        const sealed = vault().sealSecret(purpose, clear);
        expect(vault().openSecret(purpose, sealed)).to.equal(clear);
        expect(vault().sealSecret(purpose, clear)).to.not.deep.equal(sealed);
      }),
    );
  });

  it('refuses to open a value under another purpose or key, or with one changed bit', () => {
    const sealed = vault().sealSecret('webhook/1/secret', 'the secret');
    expect(JSON.stringify(sealed)).to.not.contain('the secret');
    expect(() => vault().openSecret('webhook/2/secret', sealed)).to.throw('does not open');
    expect(() => vault(KEY.toUpperCase()).openSecret('webhook/1/secret', sealed)).to.throw('does not open');
    for (const part of ['n', 'c'] as const) {
      const bytes = Buffer.from(sealed[part], 'base64url');
      for (let at = 0; at < bytes.length; at += 1) {
        const altered = Buffer.from(bytes);
        altered[at] = (altered[at] ?? 0) ^ 1;
        expect(() =>
          vault().openSecret('webhook/1/secret', { ...sealed, [part]: altered.toString('base64url') }),
        ).to.throw('does not open');
      }
    }
    for (const broken of [
      { ...sealed, n: '' },
      { ...sealed, c: 'AAAA' },
    ] as SealedValue[])
      expect(() => vault().openSecret('webhook/1/secret', broken)).to.throw('malformed');
  });

  it('gives a person one key, also when several processes create it at once', async () => {
    const person = v7();
    const all = await Promise.all(
      Array.from({ length: 10 }, (_, n) => vault().sealPersonal(person, `mail-${n}@example.org`)),
    );
    const opened = await vault().openPersonalMany(all.map((sealed) => ({ personId: person, sealed })));
    expect(opened).to.deep.equal(all.map((_sealed, n) => `mail-${n}@example.org`));
    expect(
      await database.db().query('select 1 from operational.person_keys where person_id = $1', [person]),
    ).to.have.length(1);
  });

  it('opens many values in order, and returns undefined for persons without a key', async () => {
    const [kept, erased, unknown] = [v7(), v7(), v7()];
    const items = [
      { personId: erased, sealed: await vault().sealPersonal(erased, 'gone') },
      { personId: kept, sealed: await vault().sealPersonal(kept, 'here') },
    ];
    await database
      .db()
      .execute('update operational.person_keys set sealed_key = null, destroyed_at = now() where person_id = $1', [
        erased,
      ]);
    const fresh = vault();
    expect(await fresh.openPersonalMany([...items, { personId: unknown, sealed: items[1]!.sealed }])).to.deep.equal([
      undefined,
      'here',
      undefined,
    ]);
    expect(await fresh.openPersonal(erased, items[0]!.sealed)).to.equal(undefined);
    expect(String(await rejectionOf(fresh.sealPersonal(erased, 'again')))).to.contain('was destroyed');
  });

  it("destroys a person's key permanently, for every process", async () => {
    const person = v7();
    const signals = openInProcessSignals();
    const withSignals = () => createVault({ database: database.db(), encryptionKey: KEY, signals });
    const [here, there] = [withSignals(), withSignals()];
    const sealed = await here.sealPersonal(person, 'mail@example.org');
    expect(await there.openPersonal(person, sealed), 'cached there').to.equal('mail@example.org');
    expect([await here.destroyPerson(person), await here.destroyPerson(person)]).to.deep.equal([true, false]);
    expect(await here.openPersonal(person, sealed)).to.equal(undefined);
    await eventually(async () => {
      expect(await there.openPersonal(person, sealed)).to.equal(undefined);
    });
    expect(String(await rejectionOf(there.sealPersonal(person, 'again')))).to.contain('was destroyed');
    expect(
      await database.db().query('select sealed_key from operational.person_keys where person_id = $1', [person]),
    ).to.deep.equal([{ sealed_key: null }]);
  });

  it('lists the persons whose key exists and is not destroyed', async () => {
    const [one, erased, other] = [v7(), v7(), v7()];
    for (const person of [other, erased, one]) await vault().sealPersonal(person, 'x');
    await vault().destroyPerson(erased);
    const ids: string[] = [];
    for await (const id of vault().personIds()) ids.push(id);
    expect(ids.filter((id) => [one, erased, other].includes(id))).to.deep.equal([one, other].toSorted());
  });

  it('seals nothing for a person whose key was destroyed before its first use', async () => {
    const person = v7();
    expect(await vault().destroyPerson(person)).to.equal(true);
    expect(await rejectionOf(vault().sealPersonal(person, 'x'))).to.be.instanceOf(Error);
  });

  it('opens a secret of a person under its purpose, for its person and until their key is destroyed', async () => {
    const [person, other] = [v7(), v7()];
    const purpose = `user/${person}/password`;
    const sealed = await vault().sealPersonalSecret(person, purpose, 'a hash');
    expect(await vault().openPersonalSecret(person, purpose, sealed)).to.equal('a hash');
    await vault().sealPersonal(other, 'has a key');
    expect(String(await rejectionOf(vault().openPersonalSecret(other, purpose, sealed)))).to.contain('does not open');
    expect(String(await rejectionOf(vault().openPersonalSecret(person, 'x', sealed)))).to.contain('does not open');
    expect(() => vault().openSecret(purpose, sealed), 'the key of the installation').to.throw('does not open');
    const here = vault();
    await here.destroyPerson(person);
    expect(await here.openPersonalSecret(person, purpose, sealed)).to.equal(undefined);
  });

  it('opens a secret of a person that an earlier version sealed under the key of the installation', async () => {
    const person = v7();
    const sealed = vault().sealSecret(`user/${person}/password`, 'an old hash');
    expect(await vault().openPersonalSecret(person, `user/${person}/password`, sealed)).to.equal('an old hash');
  });

  it('returns the same digest only for the same purpose and key', () => {
    expect(vault().digest('user/email', 'a@b.c'))
      .to.match(/^[A-Za-z0-9_-]{43}$/)
      .and.to.equal(vault().digest('user/email', 'a@b.c'));
    expect(vault().digest('user/email', 'a@b.c')).to.not.equal(vault().digest('other', 'a@b.c'));
    expect(vault().digest('user/email', 'a@b.c')).to.not.equal(vault(`${KEY}x`).digest('user/email', 'a@b.c'));
  });
});
