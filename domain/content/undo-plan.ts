import type { Json } from '../json.ts';
import type { BatchTrace, LaterEdit } from './batch-trace.ts';
import { aspectsOf, isThere } from './batch-trace.ts';
import type { ContentTypeDefinition } from './definition.ts';
import type { EntryState } from './entry-state.ts';
import { sameJson } from './same-json.ts';

/** One aspect that goes back: a field, `status` or `slug`. */
export type GoingBack = { readonly field: string; readonly from: Json; readonly to: Json };

/** What keeps an aspect, or the whole entry (without `field`), from going back. */
export type InTheWay = { readonly field?: string; readonly reason: 'later_edit' | 'refused'; readonly message: string; readonly edit?: LaterEdit };

export type UndoPlan = {
  /** `none`: nothing of the batch's effect is left, or what is left is in the way. */
  readonly action: 'revert' | 'delete' | 'undelete' | 'none';
  readonly fields: readonly GoingBack[];
  readonly inTheWay: readonly InTheWay[];
};

export const NOTHING_TO_UNDO: UndoPlan = { action: 'none', fields: [], inTheWay: [] };

/**
 * What undoing a batch comes to for an entry as it is today. What the batch brought into being goes, unless others edited it since; what it deleted
 * comes back; a value that is still what the batch left goes back to what it was; one that others wrote since is in the way.
 */
export function planUndo(definition: ContentTypeDefinition, { aspects, existence, edits, deletion }: BatchTrace, today: EntryState | undefined): UndoPlan {
  const there = isThere(today);
  const turned = existence !== undefined && existence.target !== existence.left;
  if (turned && existence.left === true) {
    if (!there) return NOTHING_TO_UNDO;
    if (edits.length === 0) return { ...NOTHING_TO_UNDO, action: 'delete' };
    return { ...NOTHING_TO_UNDO, inTheWay: edits.map((edit) => ({ reason: 'later_edit', message: 'edited after the batch made it', edit })) };
  }
  const fields: GoingBack[] = [];
  const inTheWay: InTheWay[] = [];
  const values = aspectsOf(definition, today);
  for (const [field, { target, left, later }] of aspects) {
    const value = values.get(field) ?? null;
    if (sameJson(value, target)) continue;
    if (sameJson(value, left)) fields.push({ field, from: value, to: target });
    else inTheWay.push({ field, reason: 'later_edit', message: 'edited after the batch', ...(later ? { edit: later } : {}) });
  }
  if (turned && !there) return { action: 'undelete', fields, inTheWay };
  if (there) return { action: fields.length > 0 ? 'revert' : 'none', fields, inTheWay };
  if (!deletion || fields.length + inTheWay.length === 0) return NOTHING_TO_UNDO;
  return { ...NOTHING_TO_UNDO, inTheWay: [{ reason: 'later_edit', message: 'deleted after the batch', edit: deletion }] };
}
