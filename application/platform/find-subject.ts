import { refusal } from '../../domain/errors.ts';
import type { RecordedEvent } from '../../domain/event.ts';
import { normaliseEmail } from '../../domain/identity/email.ts';
import { userEvents } from '../../domain/identity/user-events.ts';
import { parseStream } from '../../domain/stream.ts';
import { UUID_PATTERN } from '../../domain/uuid.ts';
import { inParallel } from '../concurrency/in-parallel.ts';
import { userStream } from '../identity/decide-on-user.ts';
import { sealedValue } from '../identity/user-claims.ts';
import { mergeEvents } from '../merge-events.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Subject } from '../ports/personal-records.ts';
import type { Vault } from '../ports/vault.ts';

/** Identifies a person: by e-mail address, which means every account created with it, or by the id of one account. */
export type PersonIdentifier = { readonly email: string } | { readonly userId: string };

type FindSubjectDependencies = {
  readonly eventStore: Pick<EventStore, 'readAll' | 'readStream'>;
  readonly vault: Pick<Vault, 'openPersonalMany' | 'personIds'>;
};
type Abort = { readonly signal?: AbortSignal };
type Account = { readonly userId: string; readonly email: string };

const BATCH = 500;
const PARALLEL = 8;

/**
 * Finds a person's accounts and credentials. It reads the event store, because no read model holds deleted accounts,
 * whose data is still personal.
 * @throws `person_not_found` when no account matches, or the person was erased
 */
export async function findSubject(
  { person, signal }: { readonly person: PersonIdentifier; readonly signal?: AbortSignal },
  dependencies: FindSubjectDependencies,
): Promise<Subject> {
  const abort = signal === undefined ? {} : { signal };
  const accounts =
    'userId' in person
      ? await accountWithId(person.userId, dependencies)
      : await accountsWithEmail({ email: normaliseEmail(person.email), abort }, dependencies);
  const [first] = accounts;
  if (!first) throw refusal('person_not_found');
  const userIds = accounts.map(({ userId }) => userId);
  return { userIds, email: first.email, credentials: await credentialsOf({ userIds, abort }, dependencies) };
}

async function accountWithId(userId: string, dependencies: FindSubjectDependencies): Promise<readonly Account[]> {
  if (!UUID_PATTERN.test(userId)) return [];
  for await (const created of dependencies.eventStore.readStream(userStream(userId), { limit: 1 }))
    return readableAccounts([created], dependencies);
  return [];
}

/** The number of reads grows with the number of accounts, not with the log. Oldest account first. */
async function accountsWithEmail(
  { email, abort }: { readonly email: string | undefined; readonly abort: Abort },
  { eventStore, vault }: FindSubjectDependencies,
): Promise<readonly Account[]> {
  if (email === undefined) return [];
  const accounts: Account[] = [];
  let ids: string[] = [];
  const searchBatch = async (): Promise<void> => {
    const created = await inParallel(ids, PARALLEL, async (id) => {
      for await (const first of eventStore.readStream(userStream(id), { limit: 1, ...abort })) return [first];
      return [];
    });
    accounts.push(...(await readableAccounts(created.flat(), { vault })).filter((account) => account.email === email));
    ids = [];
  };
  for await (const id of vault.personIds()) {
    ids.push(id);
    if (ids.length === BATCH) await searchBatch();
  }
  await searchBatch();
  return accounts;
}

/** The accounts whose key still exists, with their addresses opened. Erased accounts are left out. */
async function readableAccounts(
  events: readonly RecordedEvent[],
  { vault }: { readonly vault: Pick<Vault, 'openPersonalMany'> },
): Promise<readonly Account[]> {
  const created = events.map(userEvents.parse).flatMap((event) => (event.type === 'UserCreated' ? [event.data] : []));
  const emails = await vault.openPersonalMany(
    created.map(({ user_id: personId, email }) => ({ personId, sealed: sealedValue(email) })),
  );
  return created.flatMap(({ user_id: userId }, index) => {
    const email = emails[index];
    return email === undefined ? [] : [{ userId, email }];
  });
}

/** API keys and admin tokens that the accounts created, in the order of their creation. */
async function credentialsOf(
  { userIds, abort }: { readonly userIds: readonly string[]; readonly abort: Abort },
  { eventStore }: Pick<FindSubjectDependencies, 'eventStore'>,
): Promise<Subject['credentials']> {
  const reads = userIds.map((actor) =>
    eventStore.readAll({
      filter: { actor, categories: ['api_key', 'admin_token'], types: ['ApiKeyCreated', 'AdminTokenCreated'] },
      ...abort,
    }),
  );
  const created: Subject['credentials'][number][] = [];
  for await (const { stream, data, metadata } of mergeEvents(reads, 'forwards')) {
    const parts = parseStream(stream);
    if (!parts || metadata.actor.kind !== 'user') continue;
    const kind = parts.category === 'api_key' ? 'api_key' : 'admin_token';
    created.push({
      tenant: parts.tenant,
      kind,
      id: parts.id,
      name: typeof data['name'] === 'string' ? data['name'] : '',
      createdAt: metadata.occurred_at,
    });
  }
  return created;
}
