import { expect } from 'chai';
import { type CryptoKey, SignJWT, exportSPKI, importJWK } from 'jose';
import type { TrustedIssuers } from '../../../application/ports/trusted-issuers.ts';
import type { TrustedIssuerPolicy } from '../../../domain/identity/trusted-issuer.ts';
import { createIssuerKeys } from '../../../infrastructure/identity/issuer-keys.ts';
import { createTrustedIssuers } from '../../../infrastructure/identity/trusted-issuers.ts';
import { openOutbound } from '../../../infrastructure/outbound/outbound.ts';
import { eventually } from '../../support/eventually.ts';
import { type OidcIssuer, startOidcIssuer } from '../../support/oidc-issuer.ts';
import { recordingLogger } from '../../support/recording-logger.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('tokens of trusted issuers', () => {
  let now = new Date('2026-05-01T00:00:00.000Z');
  let issuer: OidcIssuer;
  let issuers: TrustedIssuers;
  const closers: (() => Promise<void>)[] = [];
  const advance = (ms: number): void => {
    now = new Date(now.getTime() + ms);
  };

  function trusting(
    policies: readonly TrustedIssuerPolicy[],
    allowedPrivateNetworks: readonly string[] = ['127.0.0.0/8'],
  ): TrustedIssuers {
    const outbound = openOutbound({ allowedPrivateNetworks });
    closers.push(() => outbound.close());
    const { signal } = new AbortController();
    return createTrustedIssuers({
      policies,
      vault: { digest: (purpose, value) => `digest of ${purpose} ${value}` },
      keysOf: (url) => createIssuerKeys({ issuer: url, outbound, now: () => now, logger: recordingLogger(), signal }),
    });
  }
  const policyOf = (audience = 'content', roles = ['reader']): TrustedIssuerPolicy => ({
    issuer: issuer.url,
    audience,
    tenant: 'default',
    roles,
  });
  const verify = (token: string) => issuers.verify(token, now);
  const codeOf = (work: Promise<unknown>) =>
    work.then(
      () => 'none',
      (error: unknown) => (error as { code?: string }).code,
    );

  beforeEach(async () => {
    now = new Date('2026-05-01T00:00:00.000Z');
    issuer = await startOidcIssuer({ now: () => now });
    await issuer.addKey('one');
    issuers = trusting([policyOf()]);
  });
  afterEach(async () => {
    await issuer.close();
    await Promise.all(closers.splice(0).map((close) => close()));
  });

  for (const algorithm of ['RS256', 'ES256', 'EdDSA'] as const) {
    it(`are accepted with ${algorithm}`, async () => {
      await issuer.addKey('key', algorithm);
      expect(await verify(await issuer.token('key'))).to.deep.equal({
        subject: `digest of trusted-issuer/subject ["${issuer.url}","ada@issuer.test"]`,
        tenant: 'default',
        roles: ['reader'],
        expiresAtMs: now.getTime() + HOUR + MINUTE,
      });
    });
  }

  it('get the tenant and roles of the policy for their audience', async () => {
    issuers = trusting([
      policyOf('content'),
      { issuer: issuer.url, audience: 'other', tenant: 'acme', roles: ['editor'] },
    ]);
    expect(await verify(await issuer.token('one', { aud: 'other' }))).to.include({ tenant: 'acme' });
    expect(await verify(await issuer.token('one', { aud: ['third', 'content'] }))).to.include({ tenant: 'default' });
  });

  it('may name their issuer with or without a trailing slash', async () => {
    expect(await verify(await issuer.token('one', { iss: `${issuer.url}/` }))).to.include({ tenant: 'default' });
  });

  it('are refused without a request to the issuer when no policy covers them', async () => {
    const own = 'eyJhbGciOiJFZERTQSJ9.e30.AA';
    for (const token of [
      '',
      'x',
      'a.b.c',
      own,
      await issuer.token('one', { aud: 'else' }),
      await issuer.token('one', { iss: 'http://else.test' }),
      await issuer.token('one', { aud: undefined } as never),
    ]) {
      expect(await verify(token)).to.equal(undefined);
    }
    expect(issuer.fetches()).to.equal(0);
  });

  it('are refused with any other algorithm', async () => {
    await issuer.addKey('rsa', 'RS256');
    await issuer.addKey('long', 'RS512');
    await issuer.addKey('curve', 'ES384');
    expect(await verify(await issuer.token('long'))).to.equal(undefined);
    expect(await verify(await issuer.token('curve'))).to.equal(undefined);
    const claims = { iss: issuer.url, aud: 'content', sub: 'ada', exp: Math.floor(now.getTime() / 1000) + 60 };
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    expect(await verify(`${encode({ alg: 'none', kid: 'one' })}.${encode(claims)}.`)).to.equal(undefined);
    const pem = await exportSPKI((await importJWK(issuer.publicKey('rsa'), 'RS256')) as CryptoKey);
    const hs = (alg: string) =>
      new SignJWT(claims).setProtectedHeader({ alg, kid: 'rsa' }).sign(new TextEncoder().encode(pem));
    expect(await verify(await hs('HS256')), 'the public key as an HMAC secret').to.equal(undefined);
    expect(
      await verify(await issuer.token('rsa', {}, { alg: 'RS256', kid: 'curve' })),
      'a key of another type',
    ).to.equal(undefined);
  });

  it('are never verified with a secret key of the key set', async () => {
    issuer.answer({
      status: 200,
      body: JSON.stringify({
        keys: [
          { kty: 'oct', k: Buffer.from('a-shared-secret-of-no-use').toString('base64url'), kid: 'oct', alg: 'HS256' },
          issuer.publicKey('one'),
        ],
      }),
    });
    const token = await new SignJWT({
      iss: issuer.url,
      aud: 'content',
      sub: 'ada',
      exp: Math.floor(now.getTime() / 1000) + 60,
    })
      .setProtectedHeader({ alg: 'HS256', kid: 'oct' })
      .sign(new TextEncoder().encode('a-shared-secret-of-no-use'));
    expect(await verify(token)).to.equal(undefined);
    expect(await verify(await issuer.token('one'))).to.include({ tenant: 'default' });
  });

  it('are refused when they are altered, signed by another key, or lack a subject or expiry', async () => {
    const [head, , signature] = (await issuer.token('one')).split('.') as [string, string, string];
    const [, body] = (await issuer.token('one', { sub: 'eve' })).split('.') as [string, string];
    expect(await verify(`${head}.${body}.${signature}`)).to.equal(undefined);
    const others = await startOidcIssuer({ now: () => now });
    await others.addKey('one');
    expect(await verify(await others.token('one', { iss: issuer.url }))).to.equal(undefined);
    await others.close();
    for (const claims of [{ sub: undefined }, { sub: '' }, { sub: 'x'.repeat(256) }, { exp: undefined }])
      expect(await verify(await issuer.token('one', claims as never))).to.equal(undefined);
  });

  it('are refused, and never fail, when a claim or a header member has another type', async () => {
    const values: readonly unknown[] = [null, 5, true, {}, [], [null], [5, 'content'], '', { toString: 'x' }];
    const unsigned = (header: unknown, claims: unknown) =>
      `${[header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.AA`;
    const at = now.getTime() / 1000;
    const header = { alg: 'ES256', kid: 'one' };
    const claims = { iss: issuer.url, aud: 'content', sub: 'ada', exp: at + 60, nbf: at, iat: at };
    for (const value of values) {
      for (const name of ['iss', 'aud', 'sub', 'exp', 'nbf'] as const) {
        const title = `${name}: ${JSON.stringify(value)}`;
        // A list of audiences is valid when it has the expected one; `nbf: 5` is a moment in the past.
        const isValid =
          name === 'aud' ? Array.isArray(value) && value.includes('content') : name === 'nbf' && value === 5;
        const found = await verify(await issuer.token('one', { [name]: value }));
        expect(found === undefined, `signed, ${title}`).to.equal(!isValid);
        expect(await verify(unsigned(header, { ...claims, [name]: value })), `unsigned, ${title}`).to.equal(undefined);
      }
      for (const name of ['alg', 'kid', 'typ', 'crit', 'b64'])
        expect(
          await verify(unsigned({ ...header, [name]: value }, claims)),
          `${name}: ${JSON.stringify(value)}`,
        ).to.equal(undefined);
      expect(await verify(unsigned(value, claims))).to.equal(undefined);
      expect(await verify(unsigned(header, value))).to.equal(undefined);
    }
  });

  it('are valid from nbf to exp, with one minute of tolerance on both sides', async () => {
    const at = now.getTime() / 1000;
    const during = await issuer.token('one', { nbf: at + 100, exp: at + 200 });
    const taken = async (seconds: number) =>
      (await issuers.verify(during, new Date((at + seconds) * 1000))) !== undefined;
    expect([await taken(39), await taken(40), await taken(150), await taken(259), await taken(260)]).to.deep.equal([
      false,
      true,
      true,
      true,
      false,
    ]);
  });

  it('cause one fetch of the keys for any number of tokens', async () => {
    const tokens = await Promise.all(Array.from({ length: 20 }, (_, n) => issuer.token('one', { sub: `person-${n}` })));
    expect(await Promise.all(tokens.map(verify))).to.not.include(undefined);
    advance(9 * MINUTE);
    await verify(await issuer.token('one'));
    expect(issuer.fetches()).to.equal(1);
  });

  it('signed by a new key are accepted after one more fetch; unknown keys cause at most one fetch a minute', async () => {
    await verify(await issuer.token('one'));
    await issuer.addKey('two', 'ES256');
    expect(await verify(await issuer.token('two'))).to.include({ tenant: 'default' });
    expect(issuer.fetches()).to.equal(2);
    await issuer.addKey('three');
    for (const kid of ['a', 'b', 'c']) expect(await verify(await issuer.token('one', {}, { kid }))).to.equal(undefined);
    expect(await verify(await issuer.token('three'))).to.equal(undefined);
    expect(issuer.fetches()).to.equal(2);
    advance(MINUTE);
    expect(await verify(await issuer.token('three'))).to.include({ tenant: 'default' });
    expect(issuer.fetches()).to.equal(3);
  });

  it('signed by a withdrawn key are refused after a background refresh of the keys', async () => {
    await issuer.addKey('two');
    const token = await issuer.token('two');
    await verify(token);
    issuer.removeKey('two');
    advance(10 * MINUTE);
    expect(await verify(token), 'the one that causes it').to.not.equal(undefined);
    await eventually(async () => {
      expect(await verify(token)).to.equal(undefined);
    });
  });

  it('are accepted for 24 hours while the issuer is down; later, and before the first fetch, the response is 503', async () => {
    await verify(await issuer.token('one'));
    issuer.answer({ status: 500, body: 'broken' });
    advance(24 * HOUR - 1);
    expect(await verify(await issuer.token('one'))).to.include({ tenant: 'default' });
    advance(10 * MINUTE);
    expect(await codeOf(verify(await issuer.token('one')))).to.equal('unavailable');
    issuer.answer(undefined);
    advance(MINUTE);
    expect(await verify(await issuer.token('one'))).to.include({ tenant: 'default' });
  });

  const unusable: Readonly<Record<string, Parameters<OidcIssuer['answer']>[0]>> = {
    'an error': { status: 500, body: '{"keys":[]}' },
    'text that is not JSON': { status: 200, body: '<html>' },
    'JSON that is not a key set': { status: 200, body: '{"keys":{}}' },
    'a redirect': { status: 302, headers: { location: '/tenant/.well-known/jwks.json?again' }, body: '' },
    'too many bytes': { status: 200, body: JSON.stringify({ keys: [], filler: 'x'.repeat(300_000) }) },
    'too many keys': {
      status: 200,
      body: JSON.stringify({ keys: Array.from({ length: 101 }, () => ({ kty: 'OKP' })) }),
    },
  };
  for (const [title, answer] of Object.entries(unusable)) {
    it(`get 503 when the issuer answers ${title}, and the keys are fetched again after ten seconds`, async () => {
      issuer.answer(answer);
      const token = await issuer.token('one');
      expect(await codeOf(verify(token))).to.equal('unavailable');
      const fetches = issuer.fetches();
      expect(await codeOf(verify(token))).to.equal('unavailable');
      expect(issuer.fetches()).to.equal(fetches);
      issuer.answer(undefined);
      advance(10_000);
      expect(await verify(token)).to.include({ tenant: 'default' });
    });
  }

  it('cause no request to a private network that is not allowed', async () => {
    issuers = trusting([policyOf()], []);
    expect(await codeOf(verify(await issuer.token('one')))).to.equal('unavailable');
    expect(issuer.fetches()).to.equal(0);
  });
});
