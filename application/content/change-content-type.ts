import { changedName, contentTypeDecider, parseContentTypeEvent } from '../../domain/content/content-type.ts';
import type { StoredContentType } from '../../domain/content/content-type.ts';
import type { ContentTypeEvent } from '../../domain/content/events.ts';
import type { CommandContext } from '../../domain/context.ts';
import { hasCode, refusal } from '../../domain/errors.ts';
import type { AppError } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { streamName } from '../../domain/stream.ts';
import { handleCommand } from '../handle-command.ts';
import type { ClaimRequest, Claims } from '../ports/claims.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { SchemaScope, SchemaSession, SchemaWorkbench } from '../ports/schema-workbench.ts';

export type ContentTypeDependencies = {
  readonly eventStore: EventStore;
  readonly claims: Claims;
  readonly workbench: SchemaWorkbench;
  /** Resolves true when the read models have reached the position, false after the time-out. */
  readonly waitFor: (readModels: readonly string[], position: GlobalPosition, timeoutMs: number) => Promise<boolean>;
  /** Lets what names content types elsewhere follow a rename that is a fact. @returns its last event's position, undefined for none */
  readonly renamed: (names: { readonly from: string; readonly to: string }, context: CommandContext) => Promise<GlobalPosition | undefined>;
  /** Told of every change this process makes. */
  readonly catalogue: { changed(tenant: string, name: string | undefined, position: GlobalPosition): void };
};

const CATCH_UP_MS = 5000;

/**
 * Runs a change of content types alone among all processes, on a read model that has seen every change before it.
 * @throws `ddl_in_progress` when another process is at it; `not_caught_up`
 */
export async function changeAlone<T>(scope: SchemaScope, { workbench, eventStore, waitFor }: ContentTypeDependencies, work: (session: SchemaSession) => Promise<T>): Promise<T> {
  const result = await workbench.exclusively(scope, async (session) => {
    if (!(await waitFor(['content'], await eventStore.head(), CATCH_UP_MS))) throw refusal('not_caught_up', { headers: { 'Retry-After': '1' } });
    return work(session);
  });
  if (!result) throw inProgress();
  return result.value;
}

/** The answer while another process changes the same content type (spec 2, errors of schema routes). */
export function inProgress(): AppError {
  return refusal('ddl_in_progress', { headers: { 'Retry-After': '1' } });
}

/**
 * Appends what was decided on the stored type. Somebody else's event in between is refused, because the statements were tried without it.
 * @throws `ddl_in_progress`
 */
export async function appendChange(
  { typeId, stored, event }: { readonly typeId: string; readonly stored: StoredContentType | undefined; readonly event: ContentTypeEvent },
  context: CommandContext,
  dependencies: ContentTypeDependencies,
): Promise<GlobalPosition> {
  const tried = stored?.revision ?? -1;
  const outcome = await handleCommand({
    eventStore: dependencies.eventStore,
    stream: contentTypeStream(context.tenant, typeId),
    decider: contentTypeDecider,
    parse: parseContentTypeEvent,
    context,
    snapshot: stored ? { state: { status: 'live', definition: stored.definition }, revision: tried } : { state: contentTypeDecider.initialState(), revision: -1 },
    decide: (_state, revision) => {
      if (revision !== tried) throw inProgress();
      return [event];
    },
  });
  if (outcome.position === undefined) throw new Error('a change of a content type appended nothing');
  dependencies.catalogue.changed(context.tenant, changedName(event), outcome.position);
  return outcome.position;
}

/** Holds a type's new name for its stream, and gives its old one up, while `work` appends (spec 5, rule 8). @throws `schema_exists` */
export async function claimingName<T>(
  { owner, taken, released = [] }: { readonly owner: string; readonly taken: ClaimRequest; readonly released?: readonly ClaimRequest[] },
  claims: Claims,
  work: () => Promise<T>,
): Promise<T> {
  if ((await claims.claim(owner, [taken], released)).length > 0) throw refusal('schema_exists');
  try {
    const result = await work();
    // What this leaves undone the claims' reaper does, which asks the stream.
    await claims.confirm(owner, [taken], released).catch(() => undefined);
    return result;
  } catch (error) {
    if (!hasCode(error, 'outcome_unknown')) await claims.abandon(owner, [taken]).catch(() => undefined);
    throw error;
  }
}

/** The claim on a type's name: unique in its tenant. */
export function nameClaim(tenant: string, name: string): ClaimRequest {
  return { tenant, scope: 'content_type/name', value: name };
}

/** Stream of a content type. */
export function contentTypeStream(tenant: string, typeId: string): string {
  return streamName({ category: 'content_type', tenant, id: typeId });
}
