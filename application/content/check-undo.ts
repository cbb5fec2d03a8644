import { SLUG } from '../../domain/content/batch-trace.ts';
import type { ContentType } from '../../domain/content/content-type.ts';
import type { FieldValues } from '../../domain/content/entry-events.ts';
import { storedFields } from '../../domain/content/entry-fields.ts';
import type { EntryState } from '../../domain/content/entry-state.ts';
import { NOTHING_TO_UNDO, type UndoObstacle, type UndoPlan, withoutRefused } from '../../domain/content/undo-plan.ts';
import type { FieldError } from '../../domain/errors.ts';
import { ownValue } from '../../domain/own-value.ts';
import { streamName } from '../../domain/stream.ts';
import { findMissingTargets, idsIn } from './related-entries.ts';
import type { EntryDependencies } from './run-entry-command.ts';
import { claimKey, heldFields, uniqueClaims } from './unique-values.ts';

/** Effects of the plans made so far in a dry run. Later plans are checked as if these were applied. */
export type PlannedEffects = {
  /** Ids of entries that are undeleted. */
  readonly undeleted: Set<string>;
  /** `claimKey` of the unique values that are released. */
  readonly released: Set<string>;
};

type PlannedEntry = { readonly type: ContentType; readonly entry: EntryState; readonly plan: UndoPlan };

/** Finds an entry outside the batch that refers to an entry that the undo would delete. */
export async function findForeignReferrer(
  { type, id, ofBatch }: { readonly type: ContentType; readonly id: string; readonly ofBatch: (id: string) => boolean },
  { entryRows }: Pick<EntryDependencies, 'entryRows'>,
): Promise<UndoObstacle | undefined> {
  for await (const referrers of entryRows.referrers(type, id)) {
    const foreign = referrers.find(({ entry }) => !ofBatch(entry.id));
    if (foreign) {
      const field = referringField(foreign, id);
      return { reason: 'refused', message: `entry is referenced by ${foreign.type.name}.${field}` };
    }
  }
  return undefined;
}

/**
 * Checks a plan against the database without writing or claiming anything: unique values that other entries hold, and
 * targets of relations that do not exist. Adds the plan's effects to `effects`.
 * @returns the plan with what would be refused as obstacles
 */
export async function checkUndo(
  { type, entry, plan, effects }: PlannedEntry & { readonly effects: PlannedEffects },
  dependencies: EntryDependencies,
): Promise<UndoPlan> {
  const owner = streamName({ category: 'entry', tenant: type.tenant, id: entry.id });
  const fields: FieldValues = Object.fromEntries(
    plan.fields.filter(({ field }) => field !== SLUG).map(({ field, to }) => [field, to]),
  );
  const slug = plan.fields.find(({ field }) => field === SLUG)?.to;
  const isUndeletion = plan.action === 'undelete';
  const claims = uniqueClaims(
    type,
    isUndeletion
      ? { ...entry, fields: { ...entry.fields, ...fields } }
      : { fields, slug: typeof slug === 'string' ? slug : undefined },
  );
  const lost = (claims.length === 0 ? [] : await dependencies.claims.heldByOthers(owner, claims)).filter(
    (claim) => !effects.released.has(claimKey(claim)),
  );
  const held = heldFields(claims, lost);
  const sets = [withoutIds(type, fields, effects.undeleted)];
  const [missing = []] = await findMissingTargets({ type, sets }, dependencies);
  // An entry cannot be undeleted without its unique values.
  if (isUndeletion && held.length > 0)
    return { ...NOTHING_TO_UNDO, obstacles: [...plan.obstacles, ...held.map(toObstacle)] };
  const refused = [...held, ...missing];
  const checked = withoutRefused(plan, {
    fields: plan.fields.filter(({ field }) => !refused.some((problem) => problem.field === field)),
    obstacles: refused.map(toObstacle),
  });
  addEffects({ type, entry, plan: checked }, effects);
  return checked;
}

function toObstacle({ field, message }: FieldError): UndoObstacle {
  return { field, reason: 'refused', message };
}

function addEffects({ type, entry, plan }: PlannedEntry, { undeleted, released }: PlannedEffects): void {
  if (plan.action === 'undelete') undeleted.add(entry.id);
  const releasedValues =
    plan.action === 'delete'
      ? entry
      : { fields: Object.fromEntries(plan.fields.map(({ field, from }) => [field, from])), slug: undefined };
  for (const claim of uniqueClaims(type, releasedValues)) released.add(claimKey(claim));
}

/** The values of the relations without the given ids. */
function withoutIds(type: ContentType, fields: FieldValues, ids: ReadonlySet<string>): FieldValues {
  const relations = storedFields(type.definition).filter(
    ({ key, definition }) => definition.field_type === 'relation' && Object.hasOwn(fields, key),
  );
  return Object.fromEntries(
    relations.map(({ key }) => [key, idsIn(ownValue(fields, key)).filter((id) => !ids.has(id))]),
  );
}

/** Name of the entry's field that refers to the id. */
function referringField(
  { type, entry }: { readonly type: ContentType; readonly entry: EntryState },
  id: string,
): string {
  const field = storedFields(type.definition).find(
    ({ key, definition }) => definition.field_type === 'relation' && idsIn(ownValue(entry.fields, key)).includes(id),
  );
  return field?.definition.name ?? '';
}
