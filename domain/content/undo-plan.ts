import type { Json } from '../json.ts';
import { type BatchTrace, type LaterEdit, aspectsOf, isLive } from './batch-trace.ts';
import type { ContentTypeDefinition } from './definition.ts';
import type { EntryState } from './entry-state.ts';
import { sameJson } from './same-json.ts';

/** The change that reverts one aspect: a field, `status` or `slug`. */
export type Reversion = { readonly field: string; readonly from: Json; readonly to: Json };

/** Why an aspect, or the whole entry (without `field`), cannot be reverted. */
export type UndoObstacle = {
  readonly field?: string;
  readonly reason: 'later_edit' | 'refused';
  readonly message: string;
  readonly edit?: LaterEdit;
};

export type UndoPlan = {
  /** `none`: the batch no longer has an effect, or obstacles prevent the undo. */
  readonly action: 'revert' | 'delete' | 'undelete' | 'none';
  readonly fields: readonly Reversion[];
  readonly obstacles: readonly UndoObstacle[];
};

export const NOTHING_TO_UNDO: UndoPlan = { action: 'none', fields: [], obstacles: [] };

/**
 * What undoing a batch means for the current state of an entry. An entry that the batch created is deleted, unless
 * other events have edited it since. An entry that the batch deleted is undeleted. A value that is still as the batch
 * left it gets its previous value; a value that other events have written since is an obstacle.
 */
export function planUndo(
  definition: ContentTypeDefinition,
  { aspects, existence, edits, deletion }: BatchTrace,
  current: EntryState | undefined,
): UndoPlan {
  const exists = isLive(current);
  const existenceChanged = existence !== undefined && existence.target !== existence.left;
  if (existenceChanged && existence.left === true) {
    if (!exists) return NOTHING_TO_UNDO;
    if (edits.length === 0) return { ...NOTHING_TO_UNDO, action: 'delete' };
    return {
      ...NOTHING_TO_UNDO,
      obstacles: edits.map((edit) => ({ reason: 'later_edit', message: 'edited after the batch made it', edit })),
    };
  }
  const fields: Reversion[] = [];
  const obstacles: UndoObstacle[] = [];
  const values = aspectsOf(definition, current);
  for (const [field, { target, left, later }] of aspects) {
    const value = values.get(field) ?? null;
    if (sameJson(value, target)) continue;
    if (sameJson(value, left)) fields.push({ field, from: value, to: target });
    else
      obstacles.push({
        field,
        reason: 'later_edit',
        message: 'edited after the batch',
        ...(later ? { edit: later } : {}),
      });
  }
  if (existenceChanged && !exists) return { action: 'undelete', fields, obstacles };
  if (exists) return { action: fields.length > 0 ? 'revert' : 'none', fields, obstacles };
  if (!deletion || fields.length + obstacles.length === 0) return NOTHING_TO_UNDO;
  return {
    ...NOTHING_TO_UNDO,
    obstacles: [{ reason: 'later_edit', message: 'deleted after the batch', edit: deletion }],
  };
}

/** The plan without the reversions that were refused; these become obstacles. */
export function withoutRefused(
  plan: UndoPlan,
  { fields, obstacles }: { readonly fields: readonly Reversion[]; readonly obstacles: readonly UndoObstacle[] },
): UndoPlan {
  return {
    action: plan.action === 'revert' && fields.length === 0 ? 'none' : plan.action,
    fields,
    obstacles: [...plan.obstacles, ...obstacles],
  };
}
