import { SLUG } from '../../domain/content/batch-trace.ts';
import type { ContentType } from '../../domain/content/content-type.ts';
import type { EntryState } from '../../domain/content/entry-state.ts';
import type { FieldValues } from '../../domain/content/events.ts';
import type { InTheWay, UndoPlan } from '../../domain/content/undo-plan.ts';
import { storedFields } from '../../domain/content/entry-fields.ts';
import { streamName } from '../../domain/stream.ts';
import { findMissingTargets, idsIn } from './related-entries.ts';
import type { EntryDependencies } from './run-entry-command.ts';
import { NOTHING_TO_UNDO } from '../../domain/content/undo-plan.ts';
import { withoutRefused } from './undo-entry.ts';
import { heldFields, uniqueClaims } from './unique-values.ts';

/** What a dry run has planned so far: what goes back before counts as gone back. */
export type PlannedUndo = { readonly undeleted: Set<string>; readonly released: Set<string> };

/** Whether an entry that a batch made may go: nobody outside the batch has come to name it. @returns what names it */
export async function findForeignReferrer({ type, id, ofBatch }: { readonly type: ContentType; readonly id: string; readonly ofBatch: (id: string) => boolean }, { rows }: Pick<EntryDependencies, 'rows'>): Promise<InTheWay | undefined> {
  for await (const referrers of rows.referrers(type, id)) {
    const foreign = referrers.find(({ entry }) => !ofBatch(entry.id));
    if (foreign) return { reason: 'refused', message: `entry is referenced by ${foreign.type.name}.${fieldNaming(foreign, id)}` };
  }
  return undefined;
}

/** What the database says to a plan before anything is written: unique values that others hold, targets that are gone. Nothing is claimed. */
export async function checkPlan({ type, entry, plan }: { readonly type: ContentType; readonly entry: EntryState; readonly plan: UndoPlan }, planned: PlannedUndo, dependencies: EntryDependencies): Promise<UndoPlan> {
  const owner = streamName({ category: 'entry', tenant: type.tenant, id: entry.id });
  const fields: FieldValues = Object.fromEntries(plan.fields.filter(({ field }) => field !== SLUG).map(({ field, to }) => [field, to]));
  const slug = plan.fields.find(({ field }) => field === SLUG)?.to;
  const undelete = plan.action === 'undelete';
  const wanted = uniqueClaims(type, undelete ? { ...entry, fields: { ...entry.fields, ...fields } } : { fields, slug: typeof slug === 'string' ? slug : undefined });
  const lost = (wanted.length === 0 ? [] : await dependencies.claims.heldByOthers(owner, wanted)).filter((claim) => !planned.released.has(keyOf(claim)));
  const held = heldFields(wanted, lost);
  const [missing = []] = await findMissingTargets(type, [withoutIds(type, fields, planned.undeleted)], dependencies);
  const refused = [...held, ...missing];
  // Without its unique values an entry does not come back at all.
  if (undelete && held.length > 0) return { ...NOTHING_TO_UNDO, inTheWay: [...plan.inTheWay, ...held.map(({ field, message }): InTheWay => ({ field, reason: 'refused', message }))] };
  const left = plan.fields.filter(({ field }) => !refused.some((problem) => problem.field === field));
  const checked = withoutRefused(plan, left, refused.map(({ field, message }) => ({ field, reason: 'refused', message })));
  note({ type, entry, plan: checked }, planned);
  return checked;
}

function note({ type, entry, plan }: { readonly type: ContentType; readonly entry: EntryState; readonly plan: UndoPlan }, { undeleted, released }: PlannedUndo): void {
  if (plan.action === 'undelete') undeleted.add(entry.id);
  const given = plan.action === 'delete' ? entry : { fields: Object.fromEntries(plan.fields.map(({ field, from }) => [field, from])), slug: undefined };
  for (const claim of uniqueClaims(type, given)) released.add(keyOf(claim));
}

function keyOf({ scope, value }: { readonly scope: string; readonly value: string }): string {
  return JSON.stringify([scope, value]);
}

/** Relations without the ids that will be there again. */
function withoutIds(type: ContentType, fields: FieldValues, ids: ReadonlySet<string>): FieldValues {
  const relations = storedFields(type.definition).filter(({ key, definition }) => definition.field_type === 'relation' && key in fields);
  return Object.fromEntries(relations.map(({ key }) => [key, idsIn(fields[key]).filter((id) => !ids.has(id))]));
}

function fieldNaming({ type, entry }: { readonly type: ContentType; readonly entry: EntryState }, id: string): string {
  const field = storedFields(type.definition).find(({ key, definition }) => definition.field_type === 'relation' && idsIn(entry.fields[key]).includes(id));
  return field?.definition.name ?? '';
}
