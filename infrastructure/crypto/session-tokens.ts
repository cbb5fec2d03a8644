import { SignJWT, createLocalJWKSet, importJWK, jwtVerify } from 'jose';
import type { SessionTokens } from '../../application/ports/session-tokens.ts';
import type { SigningKeys } from './signing-keys.ts';

const ISSUER = 'palimpsest';

/** Access tokens by `jose`: EdDSA only, whatever a token's header asks for. `expirySeconds` is `JWT_EXPIRY_SECS`. */
export async function createSessionTokens({ keys, expirySeconds }: { readonly keys: SigningKeys; readonly expirySeconds: number }): Promise<SessionTokens> {
  const [{ kid }] = keys;
  const privateKey = await importJWK(keys[0], 'EdDSA');
  const publicKeys = keys.map(({ kty, crv, x, kid: id }) => ({ kty, crv, x, kid: id, alg: 'EdDSA', use: 'sig' }));
  const keySet = createLocalJWKSet({ keys: publicKeys });

  return {
    jwks: { keys: publicKeys },

    async sign({ userId, sessionId, tenant, roles, sessionsRevision }, now) {
      const issuedAt = Math.floor(now.getTime() / 1000);
      const token = await new SignJWT({ sid: sessionId, tenant, roles: [...roles], srv: sessionsRevision })
        .setProtectedHeader({ alg: 'EdDSA', kid, typ: 'JWT' })
        .setIssuer(ISSUER)
        .setAudience(ISSUER)
        .setSubject(userId)
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + expirySeconds)
        .sign(privateKey);
      return { token, expiresIn: expirySeconds };
    },

    async verify(token, now) {
      const verified = await jwtVerify(token, keySet, {
        algorithms: ['EdDSA'], issuer: ISSUER, audience: ISSUER, requiredClaims: ['exp', 'sub'], currentDate: now,
      }).catch(() => undefined);
      if (!verified) return undefined;
      const { sub, sid, tenant, srv, exp } = verified.payload;
      if (typeof sub !== 'string' || typeof sid !== 'string' || typeof tenant !== 'string' || typeof srv !== 'number' || exp === undefined) return undefined;
      return { userId: sub, sessionId: sid, tenant, sessionsRevision: srv, expiresAtMs: exp * 1000 };
    },
  };
}
