import { type JWTPayload, decodeJwt, decodeProtectedHeader, errors, jwtVerify } from 'jose';
import type { TrustedIssuers } from '../../application/ports/trusted-issuers.ts';
import type { Vault } from '../../application/ports/vault.ts';
import { type TrustedIssuerPolicy, issuerName } from '../../domain/identity/trusted-issuer.ts';
import type { IssuerKeys } from './issuer-keys.ts';

export type TrustedIssuersOptions = {
  readonly policies: readonly TrustedIssuerPolicy[];
  readonly keysOf: (issuer: string) => IssuerKeys;
  readonly vault: Pick<Vault, 'digest'>;
};

const ALGORITHMS = ['RS256', 'ES256', 'EdDSA'];
const LEEWAY_SECONDS = 60;
const MAX_SUBJECT = 255;

/**
 * Creates the verifier of tokens from external issuers. A token that no policy covers causes no request to an issuer.
 */
export function createTrustedIssuers({ policies, keysOf, vault }: TrustedIssuersOptions): TrustedIssuers {
  const keys = new Map([...new Set(policies.map(({ issuer }) => issuer))].map((issuer) => [issuer, keysOf(issuer)]));

  return {
    async verify(token, now) {
      const claimed = claimsOf(token);
      const policy =
        claimed &&
        policies.find(
          ({ issuer, audience }) => issuer === issuerName(claimed.issuer) && claimed.audience.includes(audience),
        );
      const keysOfIssuer = policy && keys.get(policy.issuer);
      if (!policy || !keysOfIssuer) return undefined;
      const payload = await verified(token, {
        issuer: claimed.issuer,
        audience: policy.audience,
        keys: keysOfIssuer,
        now,
      });
      if (!payload) return undefined;
      const { sub, exp } = payload;
      if (!isSubject(sub) || exp === undefined) return undefined;
      return {
        subject: vault.digest('trusted-issuer/subject', JSON.stringify([policy.issuer, sub])),
        tenant: policy.tenant,
        roles: policy.roles,
        expiresAtMs: (exp + LEEWAY_SECONDS) * 1000,
      };
    },
  };
}

/** Issuer and audience that a token claims; not verified. */
function claimsOf(token: string): { readonly issuer: string; readonly audience: readonly string[] } | undefined {
  try {
    const { alg } = decodeProtectedHeader(token);
    // The library declares types of claims, but it does not check them before it has verified the signature.
    const { iss, aud }: { readonly iss?: unknown; readonly aud?: unknown } = decodeJwt(token);
    const audience = (Array.isArray(aud) ? (aud as readonly unknown[]) : [aud]).filter(isText);
    if (alg === undefined || !ALGORITHMS.includes(alg) || !isText(iss)) return undefined;
    return { issuer: iss, audience };
  } catch {
    return undefined;
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** Not only its length: the library does not check that `sub` is text. */
function isSubject(value: unknown): value is string {
  return isText(value) && value !== '' && value.length <= MAX_SUBJECT;
}

type Expected = { readonly issuer: string; readonly audience: string; readonly keys: IssuerKeys; readonly now: Date };

async function verified(token: string, { issuer, audience, keys, now }: Expected): Promise<JWTPayload | undefined> {
  const options = {
    algorithms: ALGORITHMS,
    issuer,
    audience,
    clockTolerance: LEEWAY_SECONDS,
    currentDate: now,
    requiredClaims: ['exp', 'sub'],
  };
  const attempt = async (): Promise<JWTPayload | 'unknown key' | undefined> => {
    const set = await keys.get();
    try {
      return (await jwtVerify(token, set, options)).payload;
    } catch (error) {
      return error instanceof errors.JWKSNoMatchingKey ? 'unknown key' : undefined;
    }
  };
  const first = await attempt();
  if (first !== 'unknown key') return first;
  const second = (await keys.refetch()) ? await attempt() : undefined;
  return second === 'unknown key' ? undefined : second;
}
