import type { CommandContext } from '../../domain/context.ts';
import { hasCode } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { aloneAndCaughtUp } from '../identity/caught-up.ts';
import { decideOnUser, userStream } from '../identity/decide-on-user.ts';
import type { IdentityDependencies } from '../identity/dependencies.ts';
import { emailClaim } from '../identity/user-claims.ts';
import type { PersonalRecords, Subject } from '../ports/personal-records.ts';
import type { PersonNamed } from './gdpr-subject.ts';
import { findSubject } from './gdpr-subject.ts';

export type GdprEraseDependencies = Pick<IdentityDependencies, 'eventStore' | 'changes' | 'claims' | 'reads' | 'exclusive' | 'progress' | 'vault'> & {
  readonly personal: readonly PersonalRecords[];
};

export type Erasure = {
  /** How many of each kind are gone. */
  readonly erased: Readonly<Record<string, number>>;
  readonly kept: readonly { readonly kind: string; readonly why: string }[];
  readonly position: GlobalPosition | undefined;
};

/** What stays, whoever is erased. */
const KEPT: Erasure['kept'] = [
  { kind: 'events', why: 'the history is proved by its chain and never rewritten; it names the person by an id that leads to nobody any more, and what was sealed under their key is unreadable' },
  { kind: 'entries', why: 'content belongs to its tenant; it names who wrote it by id only' },
  { kind: 'comments', why: 'the text of comments is content; comments that should go are deleted one by one' },
  { kind: 'credentials', why: 'API keys and admin tokens belong to their tenant and go on working: revoke those that the person still holds' },
  { kind: 'backups', why: 'a backup made before holds the person\'s key until it is thrown away; an erasure is finished again after a restore' },
];

/**
 * Erases one person (rule 11): ends their sessions, deletes their accounts by events, removes what is held beside the history, and destroys
 * their keys. A crash in between is made up for by `finishErasure`, which the event calls for.
 * @throws `person_not_found`, `last_super_admin`
 */
export async function erasePerson(dependencies: GdprEraseDependencies, person: PersonNamed, context: CommandContext): Promise<Erasure> {
  const { claims } = dependencies;
  const subject = await findSubject(dependencies, person);
  const released = [emailClaim(subject.email)];
  let position: GlobalPosition | undefined;
  let memberships = 0;
  await aloneAndCaughtUp(dependencies, 'super-admins', async () => {
    for (const userId of subject.userIds) {
      const known = await dependencies.reads.userById(userId);
      memberships += known?.memberships.length ?? 0;
      if (known) await claims.claim(userStream(userId), [], released);
      const outcome = await decideOnUser(dependencies, { userId, command: { kind: 'erase', otherSuperAdmins: await dependencies.reads.otherSuperAdmins(userId) }, known }, context);
      position = outcome.position ?? position;
    }
  });
  // What this leaves undone the claims' reaper does, which asks the stream.
  for (const userId of subject.userIds) await claims.confirm(userStream(userId), [], released).catch(() => undefined);
  const remains = await eraseRemains(dependencies, subject);
  return { erased: { users: subject.userIds.length, memberships, ...remains }, kept: KEPT, position };
}

/** Finishes an erasure that is on record and was not done to its end, or that a restored backup has undone. @returns whether there was anything left */
export async function finishErasure(dependencies: Pick<GdprEraseDependencies, 'eventStore' | 'vault' | 'personal'>, { userId }: { readonly userId: string }): Promise<boolean> {
  const subject = await findSubject(dependencies, { userId }).catch((error: unknown) => {
    if (hasCode(error, 'person_not_found')) return undefined;
    throw error;
  });
  if (!subject) return false;
  await eraseRemains(dependencies, subject);
  return true;
}

/** The keys go last: as long as one is there, what is left is found again. */
async function eraseRemains({ personal, vault }: Pick<GdprEraseDependencies, 'vault' | 'personal'>, subject: Subject): Promise<Readonly<Record<string, number>>> {
  const erased: Record<string, number> = {};
  for (const records of personal) erased[records.kind] = await records.erase(subject);
  let keys = 0;
  for (const userId of subject.userIds) if (await vault.destroyPerson(userId)) keys += 1;
  return { ...erased, person_keys: keys };
}
