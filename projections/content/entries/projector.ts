import type { ContentType, StoredContentType } from '../../../domain/content/content-type.ts';
import type { Statement } from './statements.ts';
import { createStatementCache } from './statements.ts';
import { storedFields } from '../../../domain/content/entry-fields.ts';
import { sqlTypeOf } from '../../../domain/content/field-types.ts';
import type { ColumnType } from '../../../domain/content/field-types.ts';
import { parseEntryEvent } from '../../../domain/content/parse-entry-event.ts';
import type { RecordedEvent } from '../../../domain/event.ts';
import type { Json } from '../../../domain/json.ts';
import type { Transaction } from '../../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';
import type { Target } from '../../engine/projection.ts';
import { tableOf } from './entry-json.ts';
import { foldWrite } from './entry-write.ts';
import { keepLastChanges } from './last-changes.ts';
import type { LastChange } from './last-changes.ts';
import { keepSearch, dropSearch } from './search-table.ts';
import { searchedKeys } from './search-vector.ts';
import { keepTombstones } from './tombstones.ts';
import type { Deletion } from './tombstones.ts';
import type { EntryWrite } from './entry-write.ts';

/** Content types by id as they stand at this place of the log; one that was deleted hard is missing: its entries have no rows any more. */
export type TypesById = (ids: readonly string[]) => Promise<ReadonlyMap<string, StoredContentType>>;

/**
 * Writes a run of entry events without a content type event among them: one fold per entry, then for each table one delete, one update and one insert
 * (deletes and updates first: they free unique values that inserts may take).
 * @throws when a row is not at the version before its first event: the log and the read model do not fit together
 */
export async function applyEntryEvents(tx: Transaction, target: Target, events: readonly RecordedEvent[], typesById: TypesById): Promise<void> {
  const facts = events.map((event) => ({ fact: parseEntryEvent(event), event }));
  const types = await typesById([...new Set(facts.map(({ fact }) => fact.data.type_id))]);
  const batches = new Map<StoredContentType, Map<string, EntryWrite>>();
  const changes = new Map<string, LastChange>();
  const deletions = new Map<string, Deletion | undefined>();
  for (const { fact, event } of facts) {
    const type = types.get(fact.data.type_id);
    if (!type) continue;
    let writes = batches.get(type);
    if (!writes) batches.set(type, (writes = new Map<string, EntryWrite>()));
    writes.set(fact.entryId, foldWrite(writes.get(fact.entryId), fact, withRetained(type), event));
    if (fact.type !== 'EntryCreated') changes.set(type.id, { tenant: type.tenant, position: event.position });
    if (fact.type === 'EntryDeleted') deletions.set(fact.entryId, { type, at: fact.at, position: event.position });
    else if (fact.type === 'EntryUndeleted') deletions.set(fact.entryId, undefined);
  }
  await keepLastChanges(tx, target, changes);
  await keepTombstones(tx, target, deletions);
  for (const [type, writes] of batches) {
    const table = tableOf(type, target.schema);
    const all = [...writes];
    const gone = all.flatMap(([id, { kind }]) => (kind === 'delete' ? [id] : []));
    const replaced = all.flatMap(([id, write]) => (write.kind === 'insert' && write.replaces === true ? [id] : []));
    await deleteRows(tx, table, type, [...gone, ...replaced]);
    await patchRows(tx, table, withRetained(type), all.flatMap(([id, write]) => (write.kind === 'patch' ? [{ id, ...write }] : [])));
    await insertRows(tx, table, withRetained(type), all.flatMap(([, write]) => (write.kind === 'insert' ? [write] : [])));
    await dropSearch(tx, target, gone);
    const searched = searchedKeys(type.definition);
    await keepSearch(tx, target, type, all.flatMap(([id, write]) => (touchesText(write, searched) ? [id] : [])));
  }
}

/** The type with the columns that wait for their removal: a command that began before it still writes them, for the case that they come back. */
function withRetained(type: StoredContentType): ContentType {
  const { definition, retained } = type;
  return retained.length === 0 ? type : { ...type, definition: { ...definition, fields: [...definition.fields, ...retained] } };
}

/** Only a write that touches the text pays for taking it apart. */
function touchesText(write: EntryWrite, searched: readonly string[]): boolean {
  return write.kind === 'insert' || (write.kind === 'patch' && searched.some((key) => Object.hasOwn(write.values, key)));
}

type Insert = Extract<EntryWrite, { kind: 'insert' }>;
type Patch = Extract<EntryWrite, { kind: 'patch' }> & { readonly id: string };

type Column = { readonly name: string; readonly type: ColumnType | 'json' };

/** Columns of every typed table (domain/content/table-ddl.ts). */
const SYSTEM: readonly Column[] = [
  { name: 'id', type: 'uuid' },
  { name: 'tenant_id', type: 'text' },
  { name: '_version', type: 'int8' },
  { name: '_status', type: 'text' },
  { name: '_slug', type: 'text' },
  { name: '_created_at', type: 'timestamptz(3)' },
  { name: '_updated_at', type: 'timestamptz(3)' },
  { name: '_published_at', type: 'timestamptz(3)' },
  { name: '_created_by', type: 'json' },
  { name: '_updated_by', type: 'json' },
  { name: '_deleted_at', type: 'timestamptz(3)' },
  { name: '_position', type: 'text' },
];

/** System columns that a change may write. */
const CHANGING = ['_version', '_status', '_slug', '_updated_at', '_published_at', '_updated_by', '_deleted_at', '_position'] as const;

/** Inserts come again and again, one text a table, and have one plan only: they are prepared. */
const statements = createStatementCache();

function prepared(text: string): Statement {
  return statements.get(text, () => text);
}

/** One array a column: measured a quarter faster than `json_populate_recordset` on rows of 2 KB. */
async function insertRows(tx: Transaction, table: string, type: ContentType, writes: readonly Insert[]): Promise<void> {
  if (writes.length === 0) return;
  const fields = storedFields(type.definition).map(({ key, definition }): Column => ({ name: key, type: sqlTypeOf(definition) }));
  const columns = [...SYSTEM, ...fields];
  const names = columns.map(({ name }) => quoteIdentifier(name)).join(', ');
  // An array of arrays would come apart altogether: lists travel as their text.
  const arrays = columns.map(({ type: of }, index) => `$${index + 1}::${of === 'uuid[]' ? 'text' : of}[]`).join(', ');
  const values = columns.map(({ type: of }, index) => `c${index}${of === 'uuid[]' ? '::uuid[]' : ''}`).join(', ');
  const aliases = columns.map((_, index) => `c${index}`).join(', ');
  const { text, name } = prepared(`insert into ${table} (${names}) select ${values} from unnest(${arrays}) u(${aliases})`);
  await tx.execute(text, columns.map((column) => writes.map(({ values }) => boundValue(column, values[column.name] ?? null))), name);
}

function boundValue({ type }: Column, value: Json): Json {
  if (type === 'uuid[]') return `{${Array.isArray(value) ? value.join(',') : ''}}`;
  return (type === 'json' || type === 'jsonb') && value !== null ? JSON.stringify(value) : value;
}

/** Lays each patch over its row: what the patch does not name keeps the row's value. */
async function patchRows(tx: Transaction, table: string, type: ContentType, writes: readonly Patch[]): Promise<void> {
  if (writes.length === 0) return;
  const fields = new Set(writes.flatMap(({ values }) => Object.keys(values)));
  const columns = [...CHANGING, ...storedFields(type.definition).map(({ key }) => key)].filter((column) => fields.has(column)).map(quoteIdentifier);
  // Not prepared: a plan made while the table was small would scan it for ever after. `t` alone would mean a field of that name.
  // By ids, and the tenant so that no index serves it: the planner would go through all of a table that it has no statistics of.
  const updated = await tx.execute(
    `update ${table} t set (${columns.join(', ')}) = (select ${columns.map((column) => `r.${column}`).join(', ')} from json_populate_record(t.*, p.patch) r) ` +
      'from json_to_recordset($1::json) p(id uuid, base int8, patch json) ' +
      'where t.id = p.id and t._version = p.base and t.id = any($3::uuid[]) and t.tenant_id is not distinct from $2',
    [JSON.stringify(writes.map(({ id, base, values }) => ({ id, base, patch: values }))), type.tenant, writes.map(({ id }) => id)],
  );
  if (updated !== writes.length) throw new Error(`${writes.length - updated} of ${writes.length} entries of type ${type.id} are not at the revision before their next event`);
}

async function deleteRows(tx: Transaction, table: string, type: ContentType, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.execute(`delete from ${table} where id = any($1::uuid[]) and tenant_id is not distinct from $2`, [ids, type.tenant]);
}
