import type { Call } from './http.ts';

export const SETUP_TOKEN = 'a-setup-token-for-tests';
export const OWNER = { email: 'owner@palimpsest.test', password: 'Correct-Horse-7-battery' } as const;

/** What a sign-in answers. */
export type Session = {
  readonly token: string;
  readonly csrf_token: string;
  readonly refresh_token: string;
  readonly expires_in: number;
  readonly user: { readonly id: string; readonly email: string; readonly roles: readonly string[] };
};

/** Creates the first account (super_admin) and returns its session. @throws Error when the setup is refused */
export async function setUpOwner(
  admin: Call,
  owner: { readonly email: string; readonly password: string } = OWNER,
): Promise<Session> {
  const reply = await admin('POST', '/api/admin/setup', { ...owner, setup_token: SETUP_TOKEN });
  if (reply.status !== 201) throw new Error(`the owner was not created: ${reply.text}`);
  return reply.json<Session>();
}
