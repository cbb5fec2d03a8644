import { isContentTypeEvent } from '../../../domain/content/content-type.ts';
import type { RecordedEvent } from '../../../domain/event.ts';
import type { Transaction } from '../../../infrastructure/postgres/database.ts';
import type { Target } from '../../engine/projection.ts';
import { projectApplied } from './project-applied.ts';
import { projectDeletion } from './project-deletion.ts';
import { projectFieldRename } from './project-field-rename.ts';
import { projectRename } from './project-rename.ts';
import { projectSave } from './project-save.ts';

/**
 * Applies one event of a content type: definitions, statements and the typed table change together. Which table there is follows from the
 * definitions in the target schema (`tableShape`), so that the events of one tenant alone give that tenant's tables. Entry events before it in
 * the batch must have been written, those after it see the new table.
 * @throws when a statement is refused; the projector stops
 */
export async function applyContentTypeEvent(tx: Transaction, target: Target, event: RecordedEvent): Promise<void> {
  if (!isContentTypeEvent(event)) throw new TypeError(`not an event of a content type: ${event.type}`);
  switch (event.type) {
    case 'ContentTypeSaved':
      return projectSave(tx, target, event);
    case 'ContentTypeRenamed':
      return projectRename(tx, target, event);
    case 'ContentTypeFieldRenamed':
      return projectFieldRename(tx, target, event);
    case 'ContentTypeStatementsApplied':
      return projectApplied(tx, target, event);
    case 'ContentTypeDeleted':
      return projectDeletion(tx, target, event);
  }
}
