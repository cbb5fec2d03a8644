import { codeOf } from '../../../support/authenticator.ts';
import type { Call, Reply } from '../../../support/http.ts';
import { type IdentityProcess, bearer, newUser, signInAs } from '../../../support/identity-process.ts';
import type { Session } from '../../../support/owner.ts';

export type Person = { readonly id: string; readonly email: string; readonly password: string };
export type Protected = Person & {
  readonly session: Session;
  readonly secret: string;
  readonly recoveryCodes: readonly string[];
  readonly code: () => string;
};

/** Creates a user with a second factor. `code` advances the clock by one step, so that each code is new. */
export async function withSecondFactor(
  process: IdentityProcess,
  owner: Session,
  roles?: readonly string[],
): Promise<Protected> {
  const person = await newUser(process.admin, owner, roles);
  const session = await signInAs(process.admin, person);
  const setup = expectOk(
    await process.admin('POST', '/api/admin/auth/mfa/setup', { password: person.password }, bearer(session.token)),
  );
  const { secret } = setup.json<{ secret: string }>();
  const code = (): string => {
    process.advance(30_000);
    return codeOf(secret, process.now());
  };
  const enabled = expectOk(
    await process.admin('POST', '/api/admin/auth/mfa/enable', { code: code() }, bearer(session.token)),
  );
  return {
    ...person,
    session,
    secret,
    code,
    recoveryCodes: enabled.json<{ recovery_codes: string[] }>().recovery_codes,
  };
}

/** Signs in up to the challenge of the second factor. */
export async function challengeFor(admin: Call, { email, password }: Person): Promise<string> {
  return expectOk(await admin('POST', '/api/admin/auth/login', { email, password })).json<{ challenge_token: string }>()
    .challenge_token;
}

function expectOk(reply: Reply): Reply {
  if (reply.status !== 200) throw new Error(`${reply.status} ${reply.text}`);
  return reply;
}
