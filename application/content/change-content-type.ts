import { changedName, contentTypeEvents } from '../../domain/content/content-type-events.ts';
import {
  type ContentTypeCommand,
  type StoredContentType,
  contentTypeDecider,
} from '../../domain/content/content-type.ts';
import type { CommandContext } from '../../domain/context.ts';
import { type AppError, refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { streamName } from '../../domain/stream.ts';
import { handleCommand } from '../handle-command.ts';
import type { ClaimRequest, Claims } from '../ports/claims.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { ProjectionProgress } from '../ports/projection-progress.ts';
import type { SchemaRenderer } from '../ports/schema-renderer.ts';
import type { SchemaScope, SchemaSession, SchemaWorkbench } from '../ports/schema-workbench.ts';
import { waitForHead } from '../wait-for-read-model.ts';
import { type ClaimSession, type TakenValues, takenValues } from '../with-claims.ts';

export type ContentTypeDependencies = {
  readonly eventStore: EventStore;
  readonly claims: Claims;
  readonly workbench: SchemaWorkbench;
  readonly renderer: SchemaRenderer;
  readonly progress: Pick<ProjectionProgress, 'waitFor'>;
  /**
   * Renames a content type wherever else it is named, such as in API keys, after its rename was appended.
   * @returns the position of the last event; undefined when nothing changed
   */
  readonly renameInAccess: (
    names: { readonly from: string; readonly to: string },
    context: CommandContext,
  ) => Promise<GlobalPosition | undefined>;
  /** The cache of content types; `changed` is called after every change that this process appends. */
  readonly types: { changed(tenant: string, name: string | undefined, position: GlobalPosition): void };
};

/**
 * Runs a change of content types while no other process changes them, on a read model that has applied all earlier
 * events.
 * @throws `ddl_in_progress` while another process changes one of the types; `not_caught_up`
 */
export async function changeExclusively<T>(
  { scope, change }: { readonly scope: SchemaScope; readonly change: (session: SchemaSession) => Promise<T> },
  { workbench, eventStore, progress }: Pick<ContentTypeDependencies, 'workbench' | 'eventStore' | 'progress'>,
): Promise<T> {
  const result = await workbench.exclusively(scope, async (session) => {
    await waitForHead({ name: 'content' }, { eventStore, progress });
    return change(session);
  });
  if (!result) throw changeInProgress();
  return result.value;
}

export type ExistingTypeChange<T> = Omit<SchemaScope, 'tenant' | 'names'> & {
  readonly name: string;
  /** Further names that the change needs for itself. */
  readonly otherNames?: readonly string[];
  /** `types`: all live content types of the tenant. */
  readonly change: (
    stored: StoredContentType,
    session: SchemaSession,
    types: readonly StoredContentType[],
  ) => Promise<T>;
};

/**
 * Runs a change of a live content type; see `changeExclusively`.
 * @throws `schema_not_found`, `ddl_in_progress`, `not_caught_up`
 */
export function changeExisting<T>(
  { name, otherNames = [], tenantTypes, change }: ExistingTypeChange<T>,
  { tenant }: Pick<CommandContext, 'tenant'>,
  dependencies: Pick<ContentTypeDependencies, 'workbench' | 'eventStore' | 'progress'>,
): Promise<T> {
  return changeExclusively(
    {
      scope: { tenant, names: [name, ...otherNames], tenantTypes },
      async change(session) {
        const types = await session.ofTenant(tenant);
        const stored = types.find((type) => type.name === name);
        if (!stored) throw refusal('schema_not_found');
        return change(stored, session, types);
      },
    },
    dependencies,
  );
}

/** The refusal while another process changes the same content type. */
export function changeInProgress(): AppError {
  return refusal('ddl_in_progress', { headers: { 'Retry-After': '1' } });
}

export type AppendChangeInput = {
  readonly typeId: string;
  readonly stored: StoredContentType | undefined;
  readonly command: ContentTypeCommand;
  readonly taken?: TakenValues | undefined;
};

/**
 * Appends a change that was decided on the stored type. An event of another process in between is refused, because the
 * statements were tried without it.
 * @param input `stored`: undefined for a new type. `taken`: of `takeName`.
 * @throws `ddl_in_progress`
 */
export async function appendChange(
  { typeId, stored, command, taken }: AppendChangeInput,
  context: CommandContext,
  dependencies: Pick<ContentTypeDependencies, 'eventStore' | 'types'>,
): Promise<GlobalPosition> {
  const tried = stored?.revision ?? -1;
  const { position, events } = await handleCommand(
    {
      stream: contentTypeStream(context.tenant, typeId),
      decider: contentTypeDecider,
      parse: contentTypeEvents.parse,
      snapshot: stored
        ? { state: { status: 'live', definition: stored.definition }, revision: tried }
        : { state: contentTypeDecider.initialState(), revision: -1 },
      decide(state, revision) {
        if (revision !== tried) throw changeInProgress();
        return contentTypeDecider.decide(state, command);
      },
      ...taken,
    },
    context,
    dependencies,
  );
  if (position === undefined) throw new Error('a change of a content type appended nothing');
  for (const event of events.filter(contentTypeEvents.includes))
    dependencies.types.changed(context.tenant, changedName(event), position);
  return position;
}

/**
 * Takes the name of a content type for its stream, and releases its old name, with the next append.
 * @throws `schema_exists`
 */
export async function takeName(
  {
    owner,
    taken,
    released,
  }: { readonly owner: string; readonly taken?: ClaimRequest; readonly released?: ClaimRequest },
  session: Pick<ClaimSession, 'take' | 'guardsOf' | 'heldOf'>,
): Promise<TakenValues> {
  refuseHeldName(await session.take({ owner, claimed: taken ? [taken] : [], released: released ? [released] : [] }));
  return takenValues({ owner, refuse: refuseHeldName }, session);
}

function refuseHeldName(held: readonly ClaimRequest[]): void {
  if (held.length > 0) throw refusal('schema_exists');
}

/** The claim on the name of a content type. Names are unique in the tenant. */
export function nameClaim(tenant: string, name: string): ClaimRequest {
  return { tenant, scope: 'content_type/name', value: name };
}

export function contentTypeStream(tenant: string, typeId: string): string {
  return streamName({ category: 'content_type', tenant, id: typeId });
}
