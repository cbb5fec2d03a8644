import { contentTypeEvents } from '../../../domain/content/content-type-events.ts';
import type { RecordedEvent } from '../../../domain/event.ts';
import type { Transaction } from '../../../infrastructure/postgres/database.ts';
import type { Target } from '../../engine/projection.ts';
import { projectAppliedStatements } from './project-applied-statements.ts';
import { projectDeletion } from './project-deletion.ts';
import { projectFieldRename } from './project-field-rename.ts';
import { projectRename } from './project-rename.ts';
import { projectSave } from './project-save.ts';

/**
 * Applies one content type event: changes the definition, the statements and the typed table together. The shape of the
 * table follows from the definitions in the target schema (`tableShape`), so the events of one tenant alone give the
 * tables of that tenant. Earlier entry events of the batch must be written before; later ones use the new table.
 * @throws when PostgreSQL refuses a statement; the projector then stops
 */
export async function projectContentTypeEvent(tx: Transaction, target: Target, event: RecordedEvent): Promise<void> {
  if (!contentTypeEvents.includes(event)) throw new TypeError(`not an event of a content type: ${event.type}`);
  switch (event.type) {
    case 'ContentTypeSaved':
      return projectSave(tx, target, event);
    case 'ContentTypeRenamed':
      return projectRename(tx, target, event);
    case 'ContentTypeFieldRenamed':
      return projectFieldRename(tx, target, event);
    case 'ContentTypeStatementsApplied':
      return projectAppliedStatements(tx, target, event);
    case 'ContentTypeDeleted':
      return projectDeletion(tx, target, event);
  }
}
