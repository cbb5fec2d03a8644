import { expect } from 'chai';
import { chmod, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JWTHeaderParameters, JWTPayload } from 'jose';
import { SignJWT, decodeProtectedHeader, generateKeyPair, importJWK } from 'jose';
import { createHmac } from 'node:crypto';
import { rotateSigningKeys } from '../../../infrastructure/crypto/rotate-signing-keys.ts';
import { createSessionTokens } from '../../../infrastructure/crypto/session-tokens.ts';
import type { SigningKey } from '../../../infrastructure/crypto/signing-keys.ts';
import { loadSigningKeys, newSigningKey } from '../../../infrastructure/crypto/signing-keys.ts';
import { watchSigningKeys } from '../../../infrastructure/crypto/watch-signing-keys.ts';
import { eventually } from '../../support/eventually.ts';

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

describe('a rotation of signing keys', () => {
  let directory = '';
  let path = '';
  const closers: (() => void)[] = [];
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'palimpsest-keys-'));
    path = join(directory, 'jwt_key.json');
  });
  afterEach(async () => {
    for (const close of closers.splice(0)) close();
    await rm(directory, { recursive: true });
  });
  const now = new Date('2026-05-01T00:00:00.000Z');
  const later = new Date('2026-05-01T01:00:01.000Z');

  /** A process that follows the file; looks only when it is asked to. */
  async function process(clock: () => Date, onError: (error: unknown) => void = () => undefined) {
    const source = watchSigningKeys({ path, ownerOnly: true, keys: await loadSigningKeys({ path }), now: clock, onError, pollMs: 20 });
    closers.push(() => {
      source.close();
    });
    return { source, tokens: createSessionTokens({ keys: source, expirySeconds: 60 }) };
  }

  it('signs with the new key and lets the former one verify until it retires, then takes it out of the file', async () => {
    const [former] = await loadSigningKeys({ path });
    const before = await (await process(() => now)).tokens.sign(claims, now);
    const [next, retiring] = await rotateSigningKeys({ path, overlapSeconds: 3600, now });
    expect(next.kid).to.not.equal(former.kid);
    expect(retiring).to.deep.equal({ ...former, retires_at: '2026-05-01T01:00:00.000Z' });
    expect((await stat(path)).mode & 0o777).to.equal(0o600);
    expect(await readdir(directory)).to.deep.equal(['jwt_key.json']);

    let clock = now;
    const { source, tokens } = await process(() => clock);
    expect(await tokens.verify(before.token, now)).to.include({ userId: 'u' });
    expect(decodeProtectedHeader((await tokens.sign(claims, now)).token).kid).to.equal(next.kid);
    expect(tokens.jwks(now).keys.map(({ kid }) => kid)).to.deep.equal([next.kid, former.kid]);
    expect(tokens.jwks(later).keys.map(({ kid }) => kid)).to.deep.equal([next.kid]);
    const long = createSessionTokens({ keys: source, expirySeconds: 7200 });
    const byFormer = await createSessionTokens({ keys: { current: () => [former], reread: () => Promise.resolve(false) }, expirySeconds: 7200 }).sign(claims, now);
    expect(await long.verify(byFormer.token, new Date(later.getTime() - 2_000))).to.include({ userId: 'u' });
    expect(await long.verify(byFormer.token, later), 'a retired key verifies nothing').to.equal(undefined);
    clock = later;
    await eventually(() => {
      expect(source.current()).to.deep.equal([next]);
    });
    expect(await loadSigningKeys({ path })).to.deep.equal([next]);
  });

  it('reaches a running process by itself, and at once when a token names a key that it does not know', async () => {
    const { source, tokens } = await process(() => now);
    const asking = watchSigningKeys({ path, ownerOnly: true, keys: await loadSigningKeys({ path }), now: () => now, onError: () => undefined, pollMs: 1_000_000 });
    closers.push(() => {
      asking.close();
    });
    const [next] = await rotateSigningKeys({ path, overlapSeconds: 3600, now });
    await eventually(() => {
      expect(source.current()[0]).to.deep.equal(next);
    });
    const { token } = await tokens.sign(claims, now);
    const asked = createSessionTokens({ keys: asking, expirySeconds: 60 });
    expect(await asked.verify(token, now)).to.include({ userId: 'u' });
    expect((await asked.sign(claims, now)).token.split('.')[0]).to.equal(token.split('.')[0]);
  });

  it('is done by one process at a time, and leaves nothing behind where it fails', async () => {
    await loadSigningKeys({ path });
    const racers = await Promise.allSettled(Array.from({ length: 4 }, () => rotateSigningKeys({ path, overlapSeconds: 60, now })));
    const won = racers.filter(({ status }) => status === 'fulfilled').length;
    expect(won).to.be.at.least(1);
    expect(await loadSigningKeys({ path })).to.have.length(won + 1);
    expect(await readdir(directory)).to.deep.equal(['jwt_key.json']);
  });

  it('leaves the keys known so far in force where the new file is of no use or open to others', async () => {
    const reasons: string[] = [];
    const { source } = await process(() => now, (error) => reasons.push(String(error)));
    const [key] = source.current();
    await writeFile(path, '{"keys":[]}');
    await eventually(() => {
      expect(reasons.join()).to.contain('holds no Ed25519 key');
    });
    // In one step: no look may find it there with rights that are fine.
    await loadSigningKeys({ path: `${path}.open` });
    await chmod(`${path}.open`, 0o644);
    await rename(`${path}.open`, path);
    await eventually(() => {
      expect(reasons.join()).to.contain('readable by its owner only');
    });
    expect(source.current()).to.deep.equal([key]);
    expect(new Set(reasons).size, 'each is told once').to.equal(reasons.length);
  });
});

describe('session tokens', () => {
  const now = new Date('2026-05-01T00:00:00.900Z');
  const held = (...keys: readonly SigningKey[]) => ({ current: () => keys, reread: () => Promise.resolve(false) });
  const secret = 'one-of-the-two-secrets';
  const former = 'the-other-of-the-two-secrets';
  let old: SigningKey;
  let next: SigningKey;
  before(async () => {
    [old, next] = [await newSigningKey(), await newSigningKey()];
  });

  it('say what was signed until they expire, and verify under every key of the file', async () => {
    const before = createSessionTokens({ keys: held(old), expirySeconds: 60 });
    const during = createSessionTokens({ keys: held(next, old), expirySeconds: 60 });
    const afterwards = createSessionTokens({ keys: held(next), expirySeconds: 60 });
    const { token, expiresIn } = await before.sign(claims, now);
    expect(expiresIn).to.equal(60);
    expect(await during.verify(token, now)).to.deep.equal({ userId: 'u', sessionId: 's', tenant: 'default', sessionsRevision: 3, expiresAtMs: Date.parse('2026-05-01T00:01:00Z') });
    expect(await afterwards.verify(token, now)).to.equal(undefined);
    expect(await during.verify(token, new Date('2026-05-01T00:01:00.000Z'))).to.equal(undefined);
    expect(await before.verify((await during.sign(claims, now)).token, now)).to.equal(undefined);
    expect(JSON.stringify(during.jwks(now))).to.not.contain(old.d).and.to.not.contain('"d"');
  });

  it('are signed under JWT_SECRET where the algorithm is HS256, and then show no key', async () => {
    const tokens = createSessionTokens({ keys: held(), expirySeconds: 60, secret });
    const { token } = await tokens.sign(claims, now);
    expect(decodeProtectedHeader(token)).to.deep.equal({ alg: 'HS256', typ: 'JWT' });
    expect(await tokens.verify(token, now)).to.include({ userId: 'u', sessionsRevision: 3 });
    expect(tokens.jwks(now)).to.deep.equal({ keys: [] });
    expect(await tokens.verify(token, new Date('2026-05-01T00:01:00.000Z'))).to.equal(undefined);
  });

  it('of a former secret verify during a rotation; of any other secret never', async () => {
    const { token } = await createSessionTokens({ keys: held(), expirySeconds: 60, secret: former }).sign(claims, now);
    expect(await createSessionTokens({ keys: held(), expirySeconds: 60, secret, formerSecrets: [former] }).verify(token, now)).to.include({ userId: 'u' });
    expect(await createSessionTokens({ keys: held(old), expirySeconds: 60, formerSecrets: [former] }).verify(token, now), 'in an EdDSA install').to.include({ userId: 'u' });
    expect(await createSessionTokens({ keys: held(), expirySeconds: 60, secret }).verify(token, now)).to.equal(undefined);
    expect(await createSessionTokens({ keys: held(old), expirySeconds: 60 }).verify(token, now), 'JWT_SECRET alone verifies nothing in an EdDSA install').to.equal(undefined);
  });

  it('signed with the key of the file live through a change to HS256', async () => {
    const { token } = await createSessionTokens({ keys: held(old), expirySeconds: 60 }).sign(claims, now);
    expect(await createSessionTokens({ keys: held(old), expirySeconds: 60, secret }).verify(token, now)).to.include({ userId: 'u' });
  });

  it('are never taken with another algorithm, key, audience, issuer or type, or without an end', async () => {
    const tokens = createSessionTokens({ keys: held(old), expirySeconds: 60, formerSecrets: [former] });
    const key = await importJWK(old, 'EdDSA');
    const good = { sid: 's', tenant: 'default', roles: [], srv: 3, iss: 'palimpsest', aud: 'palimpsest', sub: 'u', exp: now.getTime() / 1000 + 60 };
    const signed = (payload: JWTPayload, header: JWTHeaderParameters = { alg: 'EdDSA', kid: old.kid, typ: 'JWT' }, by: Parameters<SignJWT['sign']>[0] = key) => new SignJWT(payload).setProtectedHeader(header).sign(by);
    expect(await tokens.verify(await signed(good), now)).to.include({ userId: 'u' });
    const bytes = (text: string) => new TextEncoder().encode(text);
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const publicKey = Buffer.from(old.x, 'base64url');
    const hs = (by: Uint8Array, alg = 'HS256') => signed(good, { alg, kid: old.kid, typ: 'JWT' }, by);
    const rsa = await generateKeyPair('RS256');
    const refused: Readonly<Record<string, string>> = {
      'HS256 under the public key': await hs(publicKey),
      'HS256 under the text of the public key': await hs(bytes(old.x)),
      'HS256 under the public key as a PEM': await hs(bytes(`-----BEGIN PUBLIC KEY-----\n${publicKey.toString('base64')}\n-----END PUBLIC KEY-----\n`)),
      'HS256 under an empty secret': `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(good)}.${createHmac('sha256', '').update(`${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(good)}`).digest('base64url')}`,
      'HS512 under a right secret': await hs(bytes(former), 'HS512'),
      'RS256': await signed(good, { alg: 'RS256', kid: old.kid, typ: 'JWT' }, rsa.privateKey),
      'none': `${encode({ alg: 'none', typ: 'JWT' })}.${encode(good)}.`,
      'None': `${encode({ alg: 'None', typ: 'JWT' })}.${encode(good)}.`,
      'another audience': await signed({ ...good, aud: 'else' }),
      'no audience': await signed({ ...good, aud: undefined } as unknown as JWTPayload),
      'another issuer': await signed({ ...good, iss: 'https://issuer.test' }),
      'another type': await signed(good, { alg: 'EdDSA', kid: old.kid, typ: 'seal+jwt' }),
      'no type': await signed(good, { alg: 'EdDSA', kid: old.kid }),
      'no end': await signed({ ...good, exp: undefined } as unknown as JWTPayload),
      'not yet': await signed({ ...good, nbf: now.getTime() / 1000 + 30 }),
      'an unknown key': await signed(good, { alg: 'EdDSA', kid: 'unknown', typ: 'JWT' }),
      'no session': await signed({ ...good, sid: undefined }),
      'a key in its header': await signed(good, { alg: 'EdDSA', jwk: { kty: 'OKP', crv: 'Ed25519', x: next.x }, typ: 'JWT', kid: 'x' }, await importJWK(next, 'EdDSA')),
    };
    for (const [title, token] of Object.entries(refused)) expect(await tokens.verify(token, now), title).to.equal(undefined);
  });
});
