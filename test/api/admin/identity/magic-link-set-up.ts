import { randomUUID } from 'node:crypto';
import type { Reply } from '../../../support/http.ts';
import {
  type IdentityProcess,
  type ProcessOptions,
  bearer,
  setUpOwner,
  useIdentity,
} from '../../../support/identity-process.ts';
import type { Session } from '../../../support/owner.ts';
import { HIGH_SIGN_IN_LIMITS } from '../../../support/protections.ts';

/** The answer to a redeemed link. */
export type Redeemed = Session & {
  readonly access_token: string;
  readonly is_new_user: boolean;
  readonly user_id: string;
  readonly email: string;
};

/** The routes, and the origin of the console. */
export const REQUEST = '/api/admin/auth/magic-link/request';
export const VERIFY = '/api/admin/auth/magic-link/verify';
export const CONSOLE = 'https://console.palimpsest.test';
/** Limits that these tests do not reach. */
export const MANY = {
  ...HIGH_SIGN_IN_LIMITS,
  'magic-link.request-ip': { requests: 10_000, windowSeconds: 900 },
  'magic-link.verify-ip': { requests: 10_000, windowSeconds: 900 },
};

/** The calls of one person on one process. Advances the clock before each call, so that no rate limit is reached. */
export function personOn(process: () => IdentityProcess) {
  const ask = (email: string, host = 'console.palimpsest.test'): Promise<Reply> => {
    process().advance(1_000);
    return process().admin('POST', REQUEST, { email }, { host });
  };
  const redeem = (token: string, host = 'console.palimpsest.test'): Promise<Reply> => {
    process().advance(1_000);
    return process().admin('POST', VERIFY, { token }, { host });
  };
  const mailsTo = (email: string) => process().mails.filter(({ to }) => to === email.toLowerCase());
  /** The newest link sent to an address. */
  const linkOf = (email: string): URL => {
    const mail = mailsTo(email).at(-1);
    const link = /^https?:\S+$/m.exec(mail?.text ?? '')?.[0];
    if (link === undefined) throw new Error('no link was mailed');
    return new URL(link);
  };
  const tokenFor = async (email: string, host?: string): Promise<string> => {
    const reply = await ask(email, host);
    if (reply.status !== 200) throw new Error(reply.text);
    return linkOf(email).searchParams.get('token') ?? '';
  };
  return { ask, redeem, mailsTo, linkOf, tokenFor };
}

/** A process with the tenants acme (acme.test, login.acme.test) and other (other.test). */
export function useTenants(options: Omit<ProcessOptions, 'url'> = {}) {
  const identity = useIdentity({ protections: MANY, expirySeconds: 86_400, ...options });
  const { process, admin } = identity;
  let owner: Session | undefined;
  before(async () => {
    owner = await setUpOwner(admin);
    for (const [slug, domains] of [
      ['acme', ['acme.test', 'login.acme.test']],
      ['other', ['other.test']],
    ] as const) {
      const made = await admin('POST', '/api/admin/tenants', { slug, domains }, bearer(owner.token));
      if (made.status !== 201) throw new Error(made.text);
    }
  });
  const ownerSession = (): Session => {
    if (!owner) throw new Error('inside tests only');
    return owner;
  };
  async function member(
    tenant: string,
  ): Promise<{ readonly id: string; readonly email: string; readonly password: string }> {
    const person = { email: `${randomUUID()}@palimpsest.test`, password: 'Another-Good-Pass-1' };
    const made = await admin(
      'POST',
      '/api/admin/users',
      { ...person, roles: ['editor'], tenant_id: tenant },
      bearer(ownerSession().token),
    );
    if (made.status !== 201) throw new Error(made.text);
    return { ...person, id: made.json<{ id: string }>().id };
  }
  return {
    ...identity,
    ...personOn(process),
    owner: ownerSession,
    member,
    stranger: () => `${randomUUID()}@palimpsest.test`,
  };
}
