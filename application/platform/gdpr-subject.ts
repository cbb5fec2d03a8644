import { refusal } from '../../domain/errors.ts';
import type { RecordedEvent } from '../../domain/event.ts';
import { normaliseEmail } from '../../domain/identity/email.ts';
import { parseUserEvent } from '../../domain/identity/user-events.ts';
import { parseStream } from '../../domain/stream.ts';
import { userStream } from '../identity/decide-on-user.ts';
import { sealedValue } from '../identity/user-claims.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Subject } from '../ports/personal-records.ts';
import type { Vault } from '../ports/vault.ts';

/** A person as a super admin names them: by address, which covers every account that ever had it, or by one account's id. */
export type PersonNamed = { readonly email: string } | { readonly userId: string };

type Needs = { readonly eventStore: Pick<EventStore, 'readAll' | 'readStream'>; readonly vault: Pick<Vault, 'openPersonalMany'> };
type Account = { readonly userId: string; readonly email: string };

const BATCH = 500;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Finds a person in the history itself: accounts that were deleted are in no read model, and what they left is personal all the same.
 * @throws `person_not_found` for somebody unknown, and for one who was erased
 */
export async function findSubject(needs: Needs, person: PersonNamed, signal?: AbortSignal): Promise<Subject> {
  const abort = signal === undefined ? {} : { signal };
  const accounts = 'userId' in person ? await accountOf(needs, person.userId) : await accountsOf(needs, normaliseEmail(person.email), abort);
  const [first] = accounts;
  if (!first) throw refusal('person_not_found');
  const userIds = accounts.map(({ userId }) => userId);
  return { userIds, email: first.email, credentials: await credentialsOf(needs, userIds, abort) };
}

async function accountOf(needs: Needs, userId: string): Promise<readonly Account[]> {
  if (!UUID.test(userId)) return [];
  for await (const created of needs.eventStore.readStream(userStream(userId), { limit: 1 })) return opened(needs, [created]);
  return [];
}

async function accountsOf(needs: Needs, email: string | undefined, abort: { readonly signal?: AbortSignal }): Promise<readonly Account[]> {
  if (email === undefined) return [];
  const found: Account[] = [];
  let batch: RecordedEvent[] = [];
  const look = async (): Promise<void> => {
    found.push(...(await opened(needs, batch)).filter((account) => account.email === email));
    batch = [];
  };
  for await (const created of needs.eventStore.readAll({ filter: { categories: ['user'], types: ['UserCreated'] }, ...abort })) {
    batch.push(created);
    if (batch.length === BATCH) await look();
  }
  await look();
  return found;
}

/** The accounts whose address can still be read. */
async function opened({ vault }: Needs, events: readonly RecordedEvent[]): Promise<readonly Account[]> {
  const created = events.map(parseUserEvent).flatMap((event) => (event.type === 'UserCreated' ? [event.data] : []));
  const emails = await vault.openPersonalMany(created.map(({ user_id: personId, email }) => ({ personId, sealed: sealedValue(email) })));
  return created.flatMap(({ user_id: userId }, n) => {
    const email = emails[n];
    return email === undefined ? [] : [{ userId, email }];
  });
}

async function credentialsOf({ eventStore }: Needs, userIds: readonly string[], abort: { readonly signal?: AbortSignal }): Promise<Subject['credentials']> {
  const made: Subject['credentials'][number][] = [];
  for await (const { stream, data, metadata } of eventStore.readAll({ filter: { categories: ['api_key', 'admin_token'], types: ['ApiKeyCreated', 'AdminTokenCreated'] }, ...abort })) {
    const parts = parseStream(stream);
    if (!parts || metadata.actor.kind !== 'user' || !userIds.includes(metadata.actor.id)) continue;
    const kind = parts.category === 'api_key' ? 'api_key' : 'admin_token';
    made.push({ tenant: parts.tenant, kind, id: parts.id, name: typeof data['name'] === 'string' ? data['name'] : '', createdAt: metadata.occurred_at });
  }
  return made;
}
