import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { ChangeUserDependencies } from '../identity/account-dependencies.ts';
import { decideOnUser, userStream } from '../identity/decide-on-user.ts';
import { runExclusively } from '../identity/run-exclusively.ts';
import { emailClaim } from '../identity/user-claims.ts';
import type { Claims } from '../ports/claims.ts';
import type { PersonalRecords } from '../ports/personal-records.ts';
import type { Vault } from '../ports/vault.ts';
import { eraseRecords } from './erase-records.ts';
import { type PersonIdentifier, findSubject } from './find-subject.ts';

export type ErasePersonDependencies = ChangeUserDependencies & {
  readonly claims: Claims;
  readonly vault: Vault;
  readonly personal: readonly PersonalRecords[];
};

export type Erasure = {
  /** Number of erased records by kind. */
  readonly erased: Readonly<Record<string, number>>;
  readonly kept: readonly { readonly kind: string; readonly why: string }[];
  readonly position: GlobalPosition | undefined;
};

/** What an erasure always keeps. */
const KEPT: Erasure['kept'] = [
  {
    kind: 'events',
    why: 'the history is proved by its chain and never rewritten; the remaining id no longer identifies anyone, and what was sealed under their key is unreadable',
  },
  { kind: 'entries', why: 'content belongs to its tenant; it names who wrote it by id only' },
  { kind: 'comments', why: 'the text of comments is content; comments that should go are deleted one by one' },
  {
    kind: 'credentials',
    why: 'API keys and admin tokens belong to their tenant and go on working: revoke those that the person still holds',
  },
  {
    kind: 'backups',
    why: "a backup made before holds the person's key until it is deleted; an erasure is finished again after a restore",
  },
];

/**
 * Erases a person: ends their sessions, deletes their accounts by events, removes personal data that is stored outside
 * the event store, and destroys their keys. When a crash interrupts it, the sweep of unfinished erasures completes it
 * with `finishErasure`.
 * @throws `person_not_found`, `last_super_admin`
 */
export async function erasePerson(
  person: PersonIdentifier,
  context: CommandContext,
  dependencies: ErasePersonDependencies,
): Promise<Erasure> {
  const { claims } = dependencies;
  const subject = await findSubject({ person }, dependencies);
  const released = [emailClaim(subject.email)];
  let position: GlobalPosition | undefined;
  let memberships = 0;
  await runExclusively(
    {
      name: 'super-admins',
      async work() {
        for (const userId of subject.userIds) {
          const user = await dependencies.reads.userById(userId);
          memberships += user?.memberships.length ?? 0;
          if (user) await claims.claim({ owner: userStream(userId), claimed: [], released });
          const otherSuperAdmins = await dependencies.reads.otherSuperAdmins(userId);
          const outcome = await decideOnUser(
            { userId, commandFor: () => ({ kind: 'erase', otherSuperAdmins }), current: user },
            context,
            dependencies,
          );
          position = outcome.position ?? position;
        }
      },
    },
    dependencies,
  );
  // When this fails, the reaper of claims releases them later according to the stream.
  for (const userId of subject.userIds)
    await claims.confirm({ owner: userStream(userId), confirmed: [], released }).catch(() => undefined);
  const records = await eraseRecords(subject, dependencies);
  return { erased: { users: subject.userIds.length, memberships, ...records }, kept: KEPT, position };
}
