import type { GlobalPosition } from '../event.ts';
import { ownValue } from '../own-value.ts';
import type { ContentType } from './content-type.ts';
import type { FieldType } from './definition.ts';
import { storedFields } from './entry-fields.ts';
import { SLUG_KEY } from './entry-title.ts';
import { isManyToMany } from './field-types.ts';
import type { PopulatePlan } from './populate-plan.ts';

/** Operators of filters. */
export const FILTER_OPERATORS = [
  '$eq',
  '$ne',
  '$gt',
  '$gte',
  '$lt',
  '$lte',
  '$in',
  '$notIn',
  '$contains',
  '$startsWith',
  '$endsWith',
  '$between',
  '$null',
  '$notNull',
] as const;
export type FilterOperator = (typeof FILTER_OPERATORS)[number];

/** A column that filters and sort keys can name. */
export type QueryColumn = {
  readonly column: string;
  readonly type: FieldType;
  /** The column has an index. */
  readonly indexed: boolean;
  /** The column may be null. */
  readonly nullable: boolean;
  /** The column holds a list of ids. Conditions test for members, and it cannot be a sort key. */
  readonly many?: boolean;
};

/**
 * A condition of a query; all conditions must hold. The values are validated and in stored form. `$null` has no value:
 * `$null=false` becomes `$notNull`.
 */
export type Condition = {
  readonly column: QueryColumn;
  readonly operator: FilterOperator;
  readonly values: readonly (string | number | boolean)[];
};

export type SortKey = { readonly column: QueryColumn; readonly descending: boolean };

/** A value of a sort key in a cursor. */
export type CursorValue = string | null;

/** A query for a list of entries. The order always ends with the id, so it is total. */
export type EntryQuery = {
  readonly conditions: readonly Condition[];
  readonly sort: readonly SortKey[];
  /** Keys of `data` to show; undefined shows all. */
  readonly fields: readonly string[] | undefined;
  /** Names of the fields hidden from the caller. */
  readonly hidden: ReadonlySet<string>;
  /** Relations to show as whole entries. */
  readonly populate?: PopulatePlan | undefined;
  readonly limit: number;
  readonly offset: number;
  /** Lists the soft-deleted entries instead of the live ones. */
  readonly deleted?: boolean;
  /** Words to search for in texts. */
  readonly search?: string | undefined;
  /** Point in time, inclusive, to read instead of the current state. RFC 3339, UTC, milliseconds. */
  readonly asOf?: string | undefined;
  /** Locale of the response; undefined when the request names no locale. */
  readonly resolvedLocale?: string | undefined;
  /** The place after which the page begins. */
  readonly after?: PagePlace | undefined;
};

/** The end of the previous page. */
export type PagePlace = {
  /** Sort values of the last entry of that page. */
  readonly values: readonly CursorValue[];
  /** Id of that entry. */
  readonly id: string;
  /** Position of the read model when the first page was read. */
  readonly walk?: GlobalPosition | undefined;
};

const required = { indexed: true, nullable: false } as const;
const optional = { indexed: false, nullable: true } as const;

/** The system values of every entry, by the name that filters use. */
const SYSTEM: Readonly<Record<string, QueryColumn>> = {
  _id: { column: 'id', type: 'uuid', ...required },
  _status: { column: '_status', type: 'text', ...required, indexed: false },
  [SLUG_KEY]: { column: '_slug', type: 'text', ...optional },
  _version: { column: '_version', type: 'integer', ...required },
  _created_at: { column: '_created_at', type: 'datetime', ...required },
  _updated_at: { column: '_updated_at', type: 'datetime', ...required },
  _published_at: { column: '_published_at', type: 'datetime', ...optional },
};

/**
 * Finds the column for a filter or sort key: a field that the caller sees, or a system value. A system value is named
 * `_created_at`, or `created_at` when no field has that name.
 */
export function queryColumn(type: ContentType, hidden: ReadonlySet<string>, name: string): QueryColumn | undefined {
  const field = storedFields(type.definition).find(({ key, definition }) => key === name || definition.name === name);
  const system = name.startsWith('_') ? name : `_${name}`;
  if (!field && Object.hasOwn(SYSTEM, system)) return hidden.has(system) ? undefined : ownValue(SYSTEM, system);
  if (!field || hidden.has(field.key)) return undefined;
  const { field_type, indexed, unique } = field.definition;
  return {
    column: field.key,
    type: field_type,
    indexed: indexed === true || unique === true,
    nullable: true,
    ...(isManyToMany(field.definition) ? { many: true } : {}),
  };
}

/** Names besides the keys of `data` that the parameter `fields` accepts; these values are always shown. */
export const SYSTEM_FIELDS: ReadonlySet<string> = new Set([
  'id',
  'schema_name',
  'slug',
  'status',
  'version',
  'created_at',
  'updated_at',
  'published_at',
  'created_by',
  'updated_by',
]);
