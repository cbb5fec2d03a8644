import type { ContentType } from '../../../domain/content/content-type.ts';
import type { EntryState } from '../../../domain/content/entry-state.ts';
import type { EntryStatus, FieldValues } from '../../../domain/content/events.ts';
import type { Actor } from '../../../domain/event.ts';
import type { Queryable } from '../../../infrastructure/postgres/database.ts';
import { entryJson, tableOf } from './entry-json.ts';
import type { EntryShape } from './entry-json.ts';
import type { StatementCache } from './statements.ts';

/** One entry as JSON text, with its version for the ETag. */
export type EntryText = { readonly json: string; readonly version: number };

export type EntryReads = {
  /** One entry, drafts included; undefined when there is none. `id` is a UUID. */
  get(type: ContentType, id: string, shape: EntryShape): Promise<EntryText | undefined>;
  /** The state that commands begin with. */
  load(type: ContentType, id: string): Promise<EntryState | undefined>;
  /** Which of the ids are entries of the type. */
  existing(type: ContentType, ids: readonly string[]): Promise<ReadonlySet<string>>;
};

const NOTHING_HIDDEN: ReadonlySet<string> = new Set();
const COMPLETE: EntryShape = { hidden: NOTHING_HIDDEN, complete: true };

/** Reads of single entries over the live read model. */
export function createEntryReads({ database, statements }: { readonly database: Queryable; readonly statements: StatementCache }): EntryReads {
  async function get(type: ContentType, id: string, shape: EntryShape): Promise<EntryText | undefined> {
    const key = JSON.stringify(['get', type.id, type.revision, shape.complete === true, [...shape.hidden], shape.fields ?? null]);
    const { text, name } = statements.get(key, () => getSql(type, shape));
    const [row] = await database.query<EntryText>(text, [id, type.tenant], name);
    return row;
  }
  return {
    get,
    async load(type, id) {
      const found = await get(type, id, COMPLETE);
      return found && toState(type, found.json);
    },
    async existing(type, ids) {
      const text = `select t.id::text as id from ${tableOf(type)} t where t.id = any($1::uuid[]) and t.tenant_id = $2 and t._deleted_at is null`;
      return new Set((await database.query<{ id: string }>(text, [ids, type.tenant])).map(({ id }) => id));
    },
  };
}

function getSql(type: ContentType, shape: EntryShape): string {
  return `select ${entryJson(type, shape)} as json, t._version as version from ${tableOf(type)} t where t.id = $1 and t.tenant_id = $2 and t._deleted_at is null`;
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

function toState(type: ContentType, json: string): EntryState {
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
