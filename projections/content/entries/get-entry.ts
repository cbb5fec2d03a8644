import type { ContentType } from '../../../domain/content/content-type.ts';
import type { EntryState } from '../../../domain/content/entry-state.ts';
import type { EntryStatus, FieldValues } from '../../../domain/content/events.ts';
import type { Actor } from '../../../domain/event.ts';
import type { Queryable } from '../../../infrastructure/postgres/database.ts';
import { entryJson, shapeColumns, shapeKey, sourceOf, tableOf } from './entry-json.ts';
import type { EntryShape } from './entry-json.ts';
import { listReferrers } from './list-referrers.ts';
import { mayExceed, refusePopulate, withinBound } from './populate-bound.ts';
import { TENANT } from './related-rows.ts';
import type { StatementCache } from './statements.ts';

/** One entry as JSON text, with its version for the ETag. */
export type EntryText = { readonly json: string; readonly version: number };

export type EntryReads = {
  /**
   * One entry, drafts included; undefined when there is none. `id` is a UUID.
   * @throws `invalid_query_parameter` naming `populate` when the answer would hold too many related entries
   */
  get(type: ContentType, id: string, shape: EntryShape): Promise<EntryText | undefined>;
  /** The state that commands begin with. */
  load(type: ContentType, id: string): Promise<EntryState | undefined>;
  /** Which of the ids are entries of the type. */
  existing(type: ContentType, ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** Other entries whose relations name the entry, a thousand at a time. */
  referrers(type: ContentType, id: string, options?: { readonly required?: boolean }): ReturnType<typeof listReferrers>;
};

const NOTHING_HIDDEN: ReadonlySet<string> = new Set();
const COMPLETE: EntryShape = { hidden: NOTHING_HIDDEN, complete: true };

/** Reads of single entries over the live read model. */
export function createEntryReads({ database, statements }: { readonly database: Queryable; readonly statements: StatementCache }): EntryReads {
  async function get(type: ContentType, id: string, shape: EntryShape): Promise<EntryText | undefined> {
    const { text, name } = statements.get(`get ${shapeKey(type, shape)}`, () => getSql(type, shape));
    const [row] = await database.query<EntryText | { readonly json: null }>(text, [type.tenant, id], name);
    if (row?.json === null) throw refusePopulate();
    return row;
  }
  return {
    get,
    async load(type, id) {
      const found = await get(type, id, COMPLETE);
      return found && toState(type, found.json);
    },
    referrers: (type, id, { required } = {}) => listReferrers(database, { target: type, id, required, toState }),
    async existing(type, ids) {
      const text = `select t.id::text as id from ${tableOf(type)} t where t.id = any($1::uuid[]) and t.tenant_id = $2 and t._deleted_at is null`;
      return new Set((await database.query<{ id: string }>(text, [ids, type.tenant])).map(({ id }) => id));
    },
  };
}

/** SQL of one entry: the tenant is the first parameter, the id the second. */
export function getSql(type: ContentType, shape: EntryShape): string {
  const source = `${sourceOf(type, shape)} t where t.id = $2 and t.tenant_id = ${TENANT} and t._deleted_at is null`;
  const json = entryJson(type, shape);
  const plan = shape.populate ?? [];
  if (!mayExceed(plan, 1)) return `select ${json} as json, t._version as version from ${source}`;
  const within = withinBound(plan, 'page', (related) => sourceOf(related, shape));
  const columns = shapeColumns(type, shape).map((column) => `t.${column}`);
  return `with page as materialized (select ${columns.join(', ')} from ${source}) select case when ${within} then (${json}) end as json, t._version as version from page t`;
}

/** What a complete entry's JSON holds; our own statement made it. */
type CompleteEntry = {
  readonly id: string;
  readonly slug?: string;
  readonly status: EntryStatus;
  readonly data: FieldValues;
  readonly version: number;
  readonly created_at: string;
  readonly updated_at: string;
  readonly published_at: string | null;
  readonly created_by: Actor;
  readonly updated_by: Actor;
};

/** The state that a complete entry's JSON text holds. */
export function toState(type: ContentType, json: string): EntryState {
  const entry = JSON.parse(json) as CompleteEntry;
  return {
    id: entry.id,
    typeId: type.id,
    schema: type.name,
    fields: entry.data,
    status: entry.status,
    slug: entry.slug,
    version: entry.version,
    createdAt: entry.created_at,
    updatedAt: entry.updated_at,
    publishedAt: entry.published_at ?? undefined,
    createdBy: entry.created_by,
    updatedBy: entry.updated_by,
    deleted: false,
    deletedSoftly: false,
  };
}
