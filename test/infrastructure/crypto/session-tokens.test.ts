import { expect } from 'chai';
import {
  type JWTHeaderParameters,
  type JWTPayload,
  SignJWT,
  decodeProtectedHeader,
  generateKeyPair,
  importJWK,
} from 'jose';
import { createHmac } from 'node:crypto';
import { createSessionTokens } from '../../../infrastructure/crypto/session-tokens.ts';
import { type SigningKey, newSigningKey } from '../../../infrastructure/crypto/signing-keys.ts';

const USER = '0196f0aa-0000-7000-8000-000000000001';
const SESSION = '0196f0aa-0000-7000-8000-000000000002';
const claims = { userId: USER, sessionId: SESSION, tenant: 'default', roles: ['admin'], sessionsRevision: 3 };

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

  it('hold the signed claims until they expire, and are verified with every key of the file', async () => {
    const before = createSessionTokens({ keys: held(old), expirySeconds: 60 });
    const during = createSessionTokens({ keys: held(next, old), expirySeconds: 60 });
    const afterwards = createSessionTokens({ keys: held(next), expirySeconds: 60 });
    const { token, expiresIn } = await before.sign(claims, now);
    expect(expiresIn).to.equal(60);
    expect(await during.verify(token, now)).to.deep.equal({
      userId: USER,
      sessionId: SESSION,
      tenant: 'default',
      sessionsRevision: 3,
      expiresAtMs: Date.parse('2026-05-01T00:01:00Z'),
    });
    expect(await afterwards.verify(token, now)).to.equal(undefined);
    expect(await during.verify(token, new Date('2026-05-01T00:01:00.000Z'))).to.equal(undefined);
    expect(await before.verify((await during.sign(claims, now)).token, now)).to.equal(undefined);
    expect(JSON.stringify(during.jwks(now)))
      .to.not.contain(old.d)
      .and.to.not.contain('"d"');
  });

  it('are signed with JWT_SECRET when the algorithm is HS256, and no public key is shown', async () => {
    const tokens = createSessionTokens({ keys: held(), expirySeconds: 60, secret });
    const { token } = await tokens.sign(claims, now);
    expect(decodeProtectedHeader(token)).to.deep.equal({ alg: 'HS256', typ: 'JWT' });
    expect(await tokens.verify(token, now)).to.include({ userId: USER, sessionsRevision: 3 });
    expect(tokens.jwks(now)).to.deep.equal({ keys: [] });
    expect(await tokens.verify(token, new Date('2026-05-01T00:01:00.000Z'))).to.equal(undefined);
  });

  it('signed with a former secret are accepted while it is configured, and never with any other secret', async () => {
    const { token } = await createSessionTokens({ keys: held(), expirySeconds: 60, secret: former }).sign(claims, now);
    expect(
      await createSessionTokens({ keys: held(), expirySeconds: 60, secret, formerSecrets: [former] }).verify(
        token,
        now,
      ),
    ).to.include({ userId: USER });
    expect(
      await createSessionTokens({ keys: held(old), expirySeconds: 60, formerSecrets: [former] }).verify(token, now),
      'in an installation with EdDSA',
    ).to.include({ userId: USER });
    expect(await createSessionTokens({ keys: held(), expirySeconds: 60, secret }).verify(token, now)).to.equal(
      undefined,
    );
    expect(
      await createSessionTokens({ keys: held(old), expirySeconds: 60 }).verify(token, now),
      'JWT_SECRET alone verifies nothing in an installation with EdDSA',
    ).to.equal(undefined);
  });

  it('signed with the key of the file stay valid after a change to HS256', async () => {
    const { token } = await createSessionTokens({ keys: held(old), expirySeconds: 60 }).sign(claims, now);
    expect(await createSessionTokens({ keys: held(old), expirySeconds: 60, secret }).verify(token, now)).to.include({
      userId: USER,
    });
  });

  it('are refused with another algorithm, key, audience, issuer or type, without an expiry, or with a claim of another type', async () => {
    const tokens = createSessionTokens({ keys: held(old), expirySeconds: 60, formerSecrets: [former] });
    const key = await importJWK(old, 'EdDSA');
    const valid = {
      sid: SESSION,
      tenant: 'default',
      roles: [],
      srv: 3,
      iss: 'palimpsest',
      aud: 'palimpsest',
      sub: USER,
      exp: now.getTime() / 1000 + 60,
    };
    const signed = (
      payload: JWTPayload,
      header: JWTHeaderParameters = { alg: 'EdDSA', kid: old.kid, typ: 'JWT' },
      by: Parameters<SignJWT['sign']>[0] = key,
    ) => new SignJWT(payload).setProtectedHeader(header).sign(by);
    expect(await tokens.verify(await signed(valid), now)).to.include({ userId: USER });
    for (const name of ['sub', 'sid', 'tenant', 'srv', 'exp'])
      for (const value of [null, true, {}, [USER], name === 'srv' || name === 'exp' ? '3' : 5])
        expect(
          await tokens.verify(await signed({ ...valid, [name]: value }), now),
          `${name}: ${JSON.stringify(value)}`,
        ).to.equal(undefined);
    for (const name of ['sub', 'sid'])
      expect(await tokens.verify(await signed({ ...valid, [name]: 'not-a-uuid' }), now), name).to.equal(undefined);
    const bytes = (text: string) => new TextEncoder().encode(text);
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const publicKey = Buffer.from(old.x, 'base64url');
    const hs = (by: Uint8Array, alg = 'HS256') => signed(valid, { alg, kid: old.kid, typ: 'JWT' }, by);
    const rsa = await generateKeyPair('RS256');
    const refused: Readonly<Record<string, string>> = {
      'HS256 under the public key': await hs(publicKey),
      'HS256 under the text of the public key': await hs(bytes(old.x)),
      'HS256 under the public key as a PEM': await hs(
        bytes(`-----BEGIN PUBLIC KEY-----\n${publicKey.toString('base64')}\n-----END PUBLIC KEY-----\n`),
      ),
      'HS256 under an empty secret': `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(valid)}.${createHmac(
        'sha256',
        '',
      )
        .update(`${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(valid)}`)
        .digest('base64url')}`,
      'HS512 under a configured secret': await hs(bytes(former), 'HS512'),
      RS256: await signed(valid, { alg: 'RS256', kid: old.kid, typ: 'JWT' }, rsa.privateKey),
      none: `${encode({ alg: 'none', typ: 'JWT' })}.${encode(valid)}.`,
      None: `${encode({ alg: 'None', typ: 'JWT' })}.${encode(valid)}.`,
      'another audience': await signed({ ...valid, aud: 'else' }),
      'no audience': await signed({ ...valid, aud: undefined } as unknown as JWTPayload),
      'another issuer': await signed({ ...valid, iss: 'https://issuer.test' }),
      'another type': await signed(valid, { alg: 'EdDSA', kid: old.kid, typ: 'seal+jwt' }),
      'no type': await signed(valid, { alg: 'EdDSA', kid: old.kid }),
      'no expiry': await signed({ ...valid, exp: undefined } as unknown as JWTPayload),
      'not valid yet': await signed({ ...valid, nbf: now.getTime() / 1000 + 30 }),
      'an unknown key': await signed(valid, { alg: 'EdDSA', kid: 'unknown', typ: 'JWT' }),
      'no session': await signed({ ...valid, sid: undefined }),
      'a key in its header': await signed(
        valid,
        { alg: 'EdDSA', jwk: { kty: 'OKP', crv: 'Ed25519', x: next.x }, typ: 'JWT', kid: 'x' },
        await importJWK(next, 'EdDSA'),
      ),
    };
    for (const [title, token] of Object.entries(refused))
      expect(await tokens.verify(token, now), title).to.equal(undefined);
  });
});
