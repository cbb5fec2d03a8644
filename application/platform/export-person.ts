import type { CommandContext } from '../../domain/context.ts';
import type { RecordedEvent } from '../../domain/event.ts';
import { listedRoles } from '../../domain/identity/memberships.ts';
import type { JsonObject } from '../../domain/json.ts';
import { auditRecord } from '../../domain/platform/audit-record.ts';
import { parseStream } from '../../domain/stream.ts';
import { userStream } from '../identity/decide-on-user.ts';
import { mergeEvents } from '../merge-events.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { IdentityReads } from '../ports/identity-reads.ts';
import type { PersonalRecords, Subject } from '../ports/personal-records.ts';
import type { Vault } from '../ports/vault.ts';
import { type PersonIdentifier, findSubject } from './find-subject.ts';

export type ExportPersonDependencies = {
  readonly eventStore: Pick<EventStore, 'readAll' | 'readStream'>;
  readonly reads: Pick<IdentityReads, 'userById'>;
  readonly vault: Pick<Vault, 'openPersonalMany' | 'personIds'>;
  readonly personal: readonly PersonalRecords[];
};

export type PersonExport = {
  readonly subject: { readonly user_ids: readonly string[]; readonly email: string };
  /** RFC 3339. */
  readonly generatedAt: string;
  /** All data about the person, grouped by kind. */
  readonly records: AsyncIterable<{ readonly kind: string; readonly record: JsonObject }>;
};

/**
 * Exports all data about a person. The records are streamed while the events are read, so memory use does not grow with
 * their number, except for one record for each entry that the person changed and each of their comments.
 * @throws `person_not_found`
 */
export async function exportPerson(
  person: PersonIdentifier,
  { now, signal }: Pick<CommandContext, 'now'> & { readonly signal: AbortSignal },
  dependencies: ExportPersonDependencies,
): Promise<PersonExport> {
  const subject = await findSubject({ person, signal }, dependencies);
  return {
    subject: { user_ids: subject.userIds, email: subject.email },
    generatedAt: now().toISOString(),
    records: recordsOf({ subject, signal }, dependencies),
  };
}

async function* recordsOf(
  { subject, signal }: { readonly subject: Subject; readonly signal: AbortSignal },
  { eventStore, reads, personal }: ExportPersonDependencies,
): PersonExport['records'] {
  const { userIds, email, credentials } = subject;
  const users = await Promise.all(userIds.map(async (id) => ({ id, user: await reads.userById(id) })));
  for (const { id, user } of users) {
    const record = user
      ? {
          id,
          email,
          roles: user.roles,
          disabled: user.disabled,
          deleted: false,
          created_at: user.createdAt.toISOString(),
          updated_at: user.updatedAt.toISOString(),
          last_login_at: user.lastLoginAt?.toISOString() ?? null,
        }
      : { id, email, deleted: true };
    yield { kind: 'users', record };
  }
  for (const { id, user } of users) {
    for (const membership of user?.memberships ?? [])
      yield {
        kind: 'memberships',
        record: { user_id: id, tenant_id: membership.tenant, roles: user ? listedRoles(user, membership) : [] },
      };
  }
  for (const userId of userIds) {
    for await (const { type, data, metadata } of eventStore.readStream(userStream(userId), { signal })) {
      if (type === 'UserSignedIn')
        yield {
          kind: 'sign_ins',
          record: {
            user_id: userId,
            session_id: data['session_id'] ?? null,
            tenant_id: data['tenant'] ?? null,
            method: data['method'] ?? null,
            at: metadata.occurred_at,
          },
        };
    }
  }
  for (const records of personal)
    for (const record of await records.list(subject)) yield { kind: records.kind, record };
  for (const { kind, id, tenant, name, createdAt } of credentials)
    yield { kind: 'credentials', record: { kind, id, tenant_id: tenant, name, created_at: createdAt } };
  yield* recordsFromLog({ userIds, signal }, { eventStore });
}

/** An entry that the person changed: the time of their first change, and the number of their events. */
type ChangedEntry = {
  readonly id: string;
  readonly tenant_id: string;
  readonly first_at: string;
  readonly events: number;
};

/**
 * Events that the person caused or that concern their accounts; then the entries they changed and the comments they
 * wrote.
 */
async function* recordsFromLog(
  { userIds, signal }: { readonly userIds: readonly string[]; readonly signal: AbortSignal },
  { eventStore }: Pick<ExportPersonDependencies, 'eventStore'>,
): PersonExport['records'] {
  const entries = new Map<string, ChangedEntry>();
  const comments: JsonObject[] = [];
  const reads = userIds.flatMap((userId) => [
    actsOf({ userId, signal }, { eventStore }),
    eventStore.readStream(userStream(userId), { signal }),
  ]);
  for await (const event of mergeEvents(reads, 'forwards')) {
    const { actor } = event.metadata;
    const acted = actor.kind === 'user' && userIds.includes(actor.id);
    yield { kind: 'audit_events', record: { ...auditRecord(event) } };
    if (acted) collectContent(event, { entries, comments });
  }
  for (const record of entries.values()) yield { kind: 'entries', record };
  for (const record of comments) yield { kind: 'comments', record };
}

/** The events that the user caused. */
async function* actsOf(
  { userId, signal }: { readonly userId: string; readonly signal: AbortSignal },
  { eventStore }: Pick<ExportPersonDependencies, 'eventStore'>,
): AsyncIterable<RecordedEvent> {
  for await (const event of eventStore.readAll({ filter: { actor: userId }, signal }))
    if (event.metadata.actor.kind === 'user') yield event;
}

function collectContent(
  { stream, type, data, metadata }: RecordedEvent,
  { entries, comments }: { readonly entries: Map<string, ChangedEntry>; readonly comments: JsonObject[] },
): void {
  const parts = parseStream(stream);
  if (parts?.category === 'entry') {
    const before = entries.get(stream);
    entries.set(stream, {
      id: parts.id,
      tenant_id: parts.tenant,
      first_at: before?.first_at ?? metadata.occurred_at,
      events: (before?.events ?? 0) + 1,
    });
  }
  if (parts && type === 'CommentAdded')
    comments.push({
      id: parts.id,
      tenant_id: parts.tenant,
      entry_id: data['entry_id'] ?? null,
      body: data['body'] ?? null,
      created_at: metadata.occurred_at,
    });
}
