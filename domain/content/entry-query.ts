import type { ContentType } from './content-type.ts';
import type { GlobalPosition } from '../event.ts';
import type { FieldType } from './definition.ts';
import { storedFields } from './entry-fields.ts';
import { isManyToMany } from './field-types.ts';
import type { PopulatePlan } from './populate-plan.ts';

/** Operators of filters (spec 4 A, filters). */
export const FILTER_OPERATORS = ['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$notIn', '$contains', '$startsWith', '$endsWith', '$between', '$null', '$notNull'] as const;
export type FilterOperator = (typeof FILTER_OPERATORS)[number];

/** A column that filters and sorts may name. */
export type QueryColumn = {
  readonly column: string;
  readonly type: FieldType;
  /** There is an index on it. */
  readonly indexed: boolean;
  /** Rows may have no value. */
  readonly nullable: boolean;
  /** Holds a list of ids: conditions ask for members, and no order goes by it. */
  readonly many?: boolean;
};

/** One condition; all must hold. Values are checked and in stored form. `$null` has none: `$null=false` is `$notNull`. */
export type Condition = { readonly column: QueryColumn; readonly operator: FilterOperator; readonly values: readonly (string | number | boolean)[] };

export type SortKey = { readonly column: QueryColumn; readonly descending: boolean };

/** A value of a sort key as a cursor carries it. */
export type CursorValue = string | null;

/** A list of entries. The order always ends with the id, so that it is total. */
export type EntryQuery = {
  readonly conditions: readonly Condition[];
  readonly sort: readonly SortKey[];
  /** Keys of `data` shown; undefined: all. */
  readonly fields: readonly string[] | undefined;
  /** Fields that the caller does not see. */
  readonly hidden: ReadonlySet<string>;
  /** Relations shown as whole entries. */
  readonly populate?: PopulatePlan | undefined;
  readonly limit: number;
  readonly offset: number;
  /** Lists what soft delete has kept, instead of what is there. */
  readonly deleted?: boolean;
  /** Words to find in texts (spec 4 A, `q`). */
  readonly search?: string | undefined;
  /** The moment, inclusive, whose state is listed instead of today's. RFC 3339, UTC, milliseconds. */
  readonly asOf?: string | undefined;
  /** Locale that the entries are answered in; undefined where none was asked for. */
  readonly resolvedLocale?: string | undefined;
  /** The entry after which the page begins. */
  readonly after?: PagePlace | undefined;
};

/** Where the page before ended: sort values and id of its last entry, and where in the log the read model stood at the first page. */
export type PagePlace = { readonly values: readonly CursorValue[]; readonly id: string; readonly walk?: GlobalPosition | undefined };

const required = { indexed: true, nullable: false } as const;
const optional = { indexed: false, nullable: true } as const;

/** What the service itself knows of every entry, by the name filters use. */
const SYSTEM: Readonly<Record<string, QueryColumn>> = {
  _id: { column: 'id', type: 'uuid', ...required },
  _status: { column: '_status', type: 'text', ...required, indexed: false },
  _slug: { column: '_slug', type: 'text', ...optional },
  _version: { column: '_version', type: 'integer', ...required },
  _created_at: { column: '_created_at', type: 'datetime', ...required },
  _updated_at: { column: '_updated_at', type: 'datetime', ...required },
  _published_at: { column: '_published_at', type: 'datetime', ...optional },
};

/** Finds what a filter or sort key names: a field that the caller sees, or a system value (`_created_at`; `created_at` too, where no preset's field has that name). */
export function queryColumn(type: ContentType, hidden: ReadonlySet<string>, name: string): QueryColumn | undefined {
  const field = storedFields(type.definition).find(({ key, definition }) => key === name || definition.name === name);
  const system = name.startsWith('_') ? name : `_${name}`;
  if (!field && Object.hasOwn(SYSTEM, system)) return SYSTEM[system];
  if (!field || hidden.has(field.key)) return undefined;
  const { field_type, indexed, unique } = field.definition;
  return { column: field.key, type: field_type, indexed: indexed === true || unique === true, nullable: true, ...(isManyToMany(field.definition) ? { many: true } : {}) };
}

/** Names that `fields` may hold beside those of `data`; they are always shown. */
export const SYSTEM_FIELDS: ReadonlySet<string> = new Set(['id', 'schema_name', 'slug', 'status', 'version', 'created_at', 'updated_at', 'published_at', 'created_by', 'updated_by']);
