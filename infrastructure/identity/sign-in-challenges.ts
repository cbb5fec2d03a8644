import type { SignInChallenge, SignInChallenges } from '../../application/ports/sign-in-challenges.ts';
import type { Database } from '../postgres/database.ts';
import { deleteExpired } from '../postgres/delete-expired.ts';

/** Stores challenges in `operational.sign_in_challenges`. */
export function createSignInChallenges({ database }: { readonly database: Database }): SignInChallenges {
  return {
    async open({ userId, tenant, method, sessionsRevision }, { digest, expiresAt }) {
      await database.execute(
        'insert into operational.sign_in_challenges (token_digest, user_id, tenant_id, method, sessions_revision, expires_at) values ($1, $2, $3, $4, $5, $6)',
        [digest, userId, tenant, method, sessionsRevision, expiresAt],
      );
    },
    async find(digest, now) {
      const [challenge] = await database.query<SignInChallenge>(
        `select user_id as "userId", tenant_id as tenant, method, sessions_revision as "sessionsRevision"
         from operational.sign_in_challenges
         where token_digest = $1 and expires_at > $2`,
        [digest, now],
      );
      return challenge;
    },
    use: async (digest) =>
      (await database.execute('delete from operational.sign_in_challenges where token_digest = $1', [digest])) === 1,
    sweep: (now) => deleteExpired({ table: 'operational.sign_in_challenges', key: 'token_digest', now }, { database }),
  };
}
