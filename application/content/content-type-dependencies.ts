import type { CommandContext } from '../../domain/context.ts';
import { type AppError, refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { streamName } from '../../domain/stream.ts';
import type { Claims } from '../ports/claims.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { ProjectionProgress } from '../ports/projection-progress.ts';
import type { SchemaRenderer } from '../ports/schema-renderer.ts';
import type { SchemaSessions } from '../ports/schema-sessions.ts';

/** Dependencies of the use cases of content types. */
export type ContentTypeDependencies = {
  readonly eventStore: EventStore;
  readonly claims: Claims;
  readonly schemaSessions: SchemaSessions;
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

export function contentTypeStream(tenant: string, typeId: string): string {
  return streamName({ category: 'content_type', tenant, id: typeId });
}

/** The refusal while another process changes the same content type. */
export function changeInProgress(): AppError {
  return refusal('ddl_in_progress', { headers: { 'Retry-After': '1' } });
}
