import {
  type JWTPayload,
  type JWTVerifyGetKey,
  SignJWT,
  createLocalJWKSet,
  decodeProtectedHeader,
  errors,
  importJWK,
  jwtVerify,
} from 'jose';
import type { SessionTokens } from '../../application/ports/session-tokens.ts';
import { UUID_PATTERN } from '../../domain/uuid.ts';
import { type SigningKey, activeKeys } from './signing-keys.ts';
import type { SigningKeySource } from './watch-signing-keys.ts';

export type SessionTokensOptions = {
  /** Keys of the key file. It may be empty when tokens are signed with `secret`. */
  readonly keys: SigningKeySource;
  /** Lifetime of a token, setting `JWT_EXPIRY_SECS`. */
  readonly expirySeconds: number;
  /** Signs and verifies tokens: `JWT_SECRET` when `JWT_ALG` is HS256. Default: the first key of the file signs. */
  readonly secret?: string | undefined;
  /** Former secrets that only verify, setting `JWT_SECRETS`. */
  readonly formerSecrets?: readonly string[];
};

const ISSUER = 'palimpsest';
const TYPE = 'JWT';
const CLAIMS = { issuer: ISSUER, audience: ISSUER, typ: TYPE, requiredClaims: ['exp', 'sub'] };

/**
 * Creates and verifies access tokens with `jose`. The algorithm of a token decides which keys verify it: EdDSA the
 * public keys of the file, HS256 the configured secrets. Tokens with any other algorithm are invalid.
 */
export function createSessionTokens({
  keys,
  expirySeconds,
  secret,
  formerSecrets = [],
}: SessionTokensOptions): SessionTokens {
  const bytesOf = (text: string) => new TextEncoder().encode(text);
  const signingSecret = secret === undefined ? undefined : bytesOf(secret);
  const secrets = [...(signingSecret ? [signingSecret] : []), ...formerSecrets.map(bytesOf)];
  const privateKeys = new WeakMap<SigningKey, ReturnType<typeof importJWK>>();
  let cachedSet:
    { readonly kids: string; readonly of: readonly SigningKey[]; readonly set: JWTVerifyGetKey } | undefined;

  /** The public keys that currently verify tokens. */
  function keySet(now: Date): JWTVerifyGetKey {
    const all = keys.current();
    const verifying = activeKeys(all, now);
    const kids = verifying.map(({ kid }) => kid).join(' ');
    if (cachedSet?.of !== all || cachedSet.kids !== kids)
      cachedSet = { kids, of: all, set: createLocalJWKSet({ keys: verifying.map(publicHalf) }) };
    return cachedSet.set;
  }

  async function verifySigned(token: string, now: Date): Promise<JWTPayload> {
    const options = { ...CLAIMS, algorithms: ['EdDSA'], currentDate: now };
    try {
      return (await jwtVerify(token, keySet(now), options)).payload;
    } catch (error) {
      // Another process may already sign with a new key.
      if (!(error instanceof errors.JWKSNoMatchingKey) || !(await keys.reread())) throw error;
      return (await jwtVerify(token, keySet(now), options)).payload;
    }
  }

  async function verifySecret(token: string, now: Date): Promise<JWTPayload | undefined> {
    for (const candidate of secrets) {
      const verified = await jwtVerify(token, candidate, { ...CLAIMS, algorithms: ['HS256'], currentDate: now }).catch(
        () => undefined,
      );
      if (verified) return verified.payload;
    }
    return undefined;
  }

  async function payloadOf(token: string, now: Date): Promise<JWTPayload | undefined> {
    try {
      const { alg } = decodeProtectedHeader(token);
      if (alg === 'HS256') return await verifySecret(token, now);
      return alg === 'EdDSA' ? await verifySigned(token, now) : undefined;
    } catch {
      return undefined;
    }
  }

  function privateKeyOf(key: SigningKey): ReturnType<typeof importJWK> {
    const imported = privateKeys.get(key) ?? importJWK(key, 'EdDSA');
    privateKeys.set(key, imported);
    return imported;
  }

  async function signed(token: SignJWT): Promise<string> {
    if (signingSecret) return token.setProtectedHeader({ alg: 'HS256', typ: TYPE }).sign(signingSecret);
    const [key] = keys.current();
    if (!key) throw new Error('no key exists to sign session tokens with');
    return token.setProtectedHeader({ alg: 'EdDSA', kid: key.kid, typ: TYPE }).sign(await privateKeyOf(key));
  }

  return {
    jwks: (now) => ({ keys: activeKeys(keys.current(), now).map(publicHalf) }),

    async sign({ userId, sessionId, tenant, roles, sessionsRevision }, now) {
      const issuedAt = Math.floor(now.getTime() / 1000);
      const token = await signed(
        new SignJWT({ sid: sessionId, tenant, roles: [...roles], srv: sessionsRevision })
          .setIssuer(ISSUER)
          .setAudience(ISSUER)
          .setSubject(userId)
          .setIssuedAt(issuedAt)
          .setExpirationTime(issuedAt + expirySeconds),
      );
      return { token, expiresIn: expirySeconds };
    },

    async verify(token, now) {
      const payload = await payloadOf(token, now);
      if (!payload) return undefined;
      const { sub, sid, tenant, srv, exp } = payload;
      // Another service may sign with the same secret, so a valid signature says nothing about the form of the claims.
      if (!isId(sub) || !isId(sid) || typeof tenant !== 'string' || typeof srv !== 'number' || exp === undefined)
        return undefined;
      return { userId: sub, sessionId: sid, tenant, sessionsRevision: srv, expiresAtMs: exp * 1000 };
    },
  };
}

/** Whether a claim is the id of a user or a session. */
function isId(value: unknown): value is string {
  return typeof value === 'string' && UUID_PATTERN.test(value);
}

function publicHalf({ kty, crv, x, kid }: SigningKey) {
  return { kty, crv, x, kid, alg: 'EdDSA', use: 'sig' };
}
