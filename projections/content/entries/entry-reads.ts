import type { EntryRows } from '../../../application/ports/entry-rows.ts';
import type { ContentType } from '../../../domain/content/content-type.ts';
import type { EntryStatus, FieldValues } from '../../../domain/content/entry-events.ts';
import type { EntryState } from '../../../domain/content/entry-state.ts';
import { type Actor, ORIGIN, parsePosition } from '../../../domain/event.ts';
import type { Database } from '../../../infrastructure/postgres/database.ts';
import { COMPLETE, type EntryShape, entryJson, shapeColumns, shapeKey, sourceOf, tableOf } from './entry-json.ts';
import { listReferrers } from './list-referrers.ts';
import { mayExceed, populateRefusal, withinBound } from './populate-bound.ts';
import { READ_MODEL_POSITION } from './read-model-position.ts';
import { TENANT } from './related-rows.ts';
import { MAX_RESPONSE_BYTES, boundedText, refusingLarge } from './response-size.ts';
import type { StatementCache } from './statements.ts';

/** One entry as JSON text, and its version for the ETag. */
export type EntryText = { readonly json: string; readonly version: number };

/** Reads of single entries: those of commands (`EntryRows`), and one that answers requests. */
export type EntryReads = EntryRows & {
  /**
   * One entry, also a draft; undefined when it does not exist. `id` is a UUID.
   * @throws `invalid_query_parameter` naming `populate` when the response would contain too many related entries or
   *   would be too large
   */
  get(type: ContentType, id: string, shape: EntryShape): Promise<EntryText | undefined>;
};

/** Reads of single entries from the live read model. */
export function createEntryReads({
  database,
  statements,
  maxBytes = MAX_RESPONSE_BYTES,
}: {
  readonly database: Pick<Database, 'query' | 'execute'>;
  readonly statements: StatementCache;
  /** Largest JSON text of an entry with its populated entries, in bytes. Default: 16 MiB. */
  readonly maxBytes?: number | undefined;
}): EntryReads {
  async function get(type: ContentType, id: string, shape: EntryShape): Promise<EntryText | undefined> {
    const { text, name } = statements.get(`get ${shapeKey(type, shape)}`, () => getSql(type, { ...shape, maxBytes }));
    const [row] = await refusingLarge({ parameter: 'populate', maxBytes }, () =>
      database.query<EntryText | { readonly json: null }>(text, [type.tenant, id], name),
    );
    if (row?.json === null) throw populateRefusal();
    return row;
  }
  return {
    get,
    async load(type, id) {
      const found = await get(type, id, COMPLETE);
      return found && toState(type, found.json);
    },
    async position() {
      const [row] = await database.query<{ position: string | null }>(`select ${READ_MODEL_POSITION} as position`);
      return parsePosition(row?.position ?? '') ?? ORIGIN;
    },
    referrers: (type, id, { required } = {}) => listReferrers(database, { target: type, id, required, toState }),
    async existing(type, ids) {
      const text = `select t.id::text as id from ${tableOf(type)} t
        where t.id = any($1::uuid[]) and t.tenant_id = $2 and t._deleted_at is null`;
      return new Set((await database.query<{ id: string }>(text, [ids, type.tenant])).map(({ id }) => id));
    },
  };
}

/**
 * SQL of one entry. Parameters: the tenant, the id. `json` is null when the response would contain too many related
 * entries.
 */
export function getSql(type: ContentType, shape: EntryShape): string {
  const source = `${sourceOf(type, shape)} t where t.id = $2 and t.tenant_id = ${TENANT} and t._deleted_at is null`;
  const plan = shape.populate ?? [];
  const whole = entryJson(type, shape);
  const json = plan.length === 0 ? whole : boundedText(whole, shape.maxBytes ?? MAX_RESPONSE_BYTES);
  if (!mayExceed(plan, 1)) return `select ${json} as json, t._version as version from ${source}`;
  const within = withinBound(plan, 'page', (related) => sourceOf(related, shape));
  const columns = shapeColumns(type, shape).map((column) => `t.${column}`);
  return `with page as materialized (select ${columns.join(', ')} from ${source})
    select case when ${within} then (${json}) end as json, t._version as version from page t`;
}

/** The JSON of a complete entry, as `entryJson` makes it. */
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

/** Parses the JSON text of a complete entry, as `entryJson` makes it. */
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
