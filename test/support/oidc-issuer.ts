import { type JWK, type JWTPayload, SignJWT, exportJWK, generateKeyPair } from 'jose';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

type Algorithm = 'RS256' | 'ES256' | 'EdDSA' | 'RS512' | 'ES384';
type Pair = Awaited<ReturnType<typeof generateKeyPair>> & { readonly jwk: JWK; readonly algorithm: Algorithm };

/** An OpenID Connect issuer on the loopback interface. */
export type OidcIssuer = {
  readonly url: string;
  /** Creates a key with this id and publishes it in the key set. */
  addKey(kid: string, algorithm?: Algorithm): Promise<void>;
  removeKey(kid: string): void;
  /** A token signed by the key: valid for one hour, audience `content`, subject `ada@issuer.test`. */
  token(kid: string, claims?: JWTPayload, header?: Readonly<Record<string, unknown>>): Promise<string>;
  publicKey(kid: string): JWK;
  /** Number of requests for the key set. */
  fetches(): number;
  /** Sets the response to further requests for the key set. `never`: no response. Undefined: the key set. */
  answer(
    reply:
      | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body: string }
      | 'never'
      | undefined,
  ): void;
  close(): Promise<void>;
};

/** Starts an issuer. `now` is the clock of its tokens. */
export async function startOidcIssuer({
  now = () => new Date(),
}: { readonly now?: () => Date } = {}): Promise<OidcIssuer> {
  const keys = new Map<string, Pair>();
  let fetches = 0;
  let reply: Parameters<OidcIssuer['answer']>[0];
  const server = createServer((request, response) => {
    if (request.url !== '/tenant/.well-known/jwks.json') {
      response.writeHead(404).end();
      return;
    }
    fetches += 1;
    if (reply === 'never') return;
    if (reply) {
      response.writeHead(reply.status, reply.headers).end(reply.body);
      return;
    }
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ keys: [...keys.values()].map(({ jwk }) => jwk) }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/tenant`;
  const pairOf = (kid: string): Pair => {
    const pair = keys.get(kid);
    if (!pair) throw new Error(`no key ${kid}`);
    return pair;
  };
  return {
    url,
    async addKey(kid, algorithm = 'ES256') {
      const pair = await generateKeyPair(algorithm, { extractable: true });
      keys.set(kid, {
        ...pair,
        algorithm,
        jwk: { ...(await exportJWK(pair.publicKey)), kid, alg: algorithm, use: 'sig' },
      });
    },
    removeKey: (kid) => void keys.delete(kid),
    token(kid, claims = {}, header = {}) {
      const { privateKey, algorithm } = pairOf(kid);
      const at = Math.floor(now().getTime() / 1000);
      return new SignJWT({ iss: url, aud: 'content', sub: 'ada@issuer.test', iat: at, exp: at + 3600, ...claims })
        .setProtectedHeader({ alg: algorithm, kid, ...header })
        .sign(privateKey);
    },
    publicKey: (kid) => pairOf(kid).jwk,
    fetches: () => fetches,
    answer(next) {
      reply = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
