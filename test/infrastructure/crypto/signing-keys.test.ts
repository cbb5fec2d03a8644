import { expect } from 'chai';
import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSessionTokens } from '../../../infrastructure/crypto/session-tokens.ts';
import { loadSigningKeys } from '../../../infrastructure/crypto/signing-keys.ts';

const claims = { userId: 'u', sessionId: 's', tenant: 'default', roles: ['admin'], sessionsRevision: 3 };

describe('the signing key file', () => {
  let directory = '';
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'palimpsest-keys-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('is made on the first start, for its owner alone, and used again', async () => {
    const path = join(directory, 'deep', 'jwt_key.json');
    const keys = await loadSigningKeys({ path, ownerOnly: true });
    expect((await stat(path)).mode & 0o777).to.equal(0o600);
    expect(await loadSigningKeys({ path })).to.deep.equal(keys);
  });

  it('is one, however many processes start at once', async () => {
    const path = join(directory, 'jwt_key.json');
    const all = await Promise.all(Array.from({ length: 8 }, () => loadSigningKeys({ path })));
    for (const keys of all) expect(keys).to.deep.equal(all[0]);
    expect(await readdir(directory)).to.deep.equal(['jwt_key.json']);
  });

  it('is refused when others may read it, where that is asked for, and when it holds no key', async () => {
    const path = join(directory, 'jwt_key.json');
    await loadSigningKeys({ path });
    await chmod(path, 0o640);
    await loadSigningKeys({ path, ownerOnly: true }).then(() => expect.fail('read'), (error: unknown) => {
      expect(String(error)).to.contain('JWT_KEY_PATH');
    });
    for (const text of ['{}', '{"keys":[]}', '{"keys":[{"kty":"oct","k":"AAAA"}]}', 'null']) {
      await writeFile(path, text);
      await loadSigningKeys({ path }).then(() => expect.fail('read'), (error: unknown) => {
        expect(String(error)).to.contain('holds no Ed25519 key');
      });
    }
  });
});

describe('session tokens', () => {
  it('say what was signed until they expire, and verify under every key of the file', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'palimpsest-keys-'));
    const [old] = await loadSigningKeys({ path: join(directory, 'old.json') });
    const [next] = await loadSigningKeys({ path: join(directory, 'next.json') });
    await rm(directory, { recursive: true });
    const before = await createSessionTokens({ keys: [old], expirySeconds: 60 });
    const during = await createSessionTokens({ keys: [next, old], expirySeconds: 60 });
    const afterwards = await createSessionTokens({ keys: [next], expirySeconds: 60 });
    const now = new Date('2026-05-01T00:00:00.900Z');
    const { token, expiresIn } = await before.sign(claims, now);
    expect(expiresIn).to.equal(60);
    expect(await during.verify(token, now)).to.deep.equal({ userId: 'u', sessionId: 's', tenant: 'default', sessionsRevision: 3, expiresAtMs: Date.parse('2026-05-01T00:01:00Z') });
    expect(await afterwards.verify(token, now)).to.equal(undefined);
    expect(await during.verify(token, new Date('2026-05-01T00:01:00.000Z'))).to.equal(undefined);
    expect(await before.verify((await during.sign(claims, now)).token, now)).to.equal(undefined);
    expect(JSON.stringify(during.jwks)).to.not.contain(old.d).and.to.not.contain('"d"');
  });
});
