import type { ScalarColumnType } from '../../../domain/content/field-types.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';
import { jsonExpression } from './column-sql.ts';
import { type TablePlace, tableName } from './table-statements.ts';

export type Conversion = {
  readonly column: string;
  readonly from: ScalarColumnType;
  readonly to: ScalarColumnType;
};

/**
 * USING expression that converts a column to another type. The database refuses the statement for a value that does not
 * convert. Values are converted through their JSON form, so the result matches what the API showed. Blank text becomes
 * null.
 */
export function strictConversion({ column, from, to }: Conversion): string {
  if (to === 'jsonb') return `to_jsonb(${jsonExpression(from, quoteIdentifier(column))})`;
  const text = textForm({ column, from, to });
  return to === 'text' ? text : `(${text})::${to}`;
}

/**
 * Like `strictConversion`, but gives null for a value that does not convert. Calls the functions of
 * `conversionFunctions` in the schema.
 */
export function totalConversion({ schema, column, from, to }: Conversion & { readonly schema: string }): string {
  if (to === 'jsonb' || to === 'text') return strictConversion({ column, from, to });
  return `${schema}.${quoteIdentifier(CONVERSIONS[to].name)}(${textForm({ column, from, to })})`;
}

/**
 * SQL that selects, as `found`, whether a conversion would lose a value.
 * @returns undefined when every value converts
 */
export function lossQuery(place: TablePlace, { column, from, to }: Conversion): string | undefined {
  if (to === 'jsonb' || to === 'text') return undefined;
  const text = textForm({ column, from, to });
  const converted = totalConversion({ schema: place.schema, column, from, to });
  const isLost = `(${text}) is not null and (${converted}) is null`;
  return `select exists (select 1 from ${tableName(place)} where ${isLost}) as found`;
}

/** SQL of the text that the target type's input function reads. */
function textForm({ column, from, to }: Conversion): string {
  const value = quoteIdentifier(column);
  const numeric = to === 'float8' || to === 'int8' || to === 'numeric';
  if (from === 'text') return to === 'text' ? value : `nullif(btrim(${value}), '')`;
  if (from === 'jsonb') return to === 'text' ? `(${value} #>> '{}')` : `nullif(btrim(${value} #>> '{}'), '')`;
  if (from === 'boolean' && numeric) return `(${value}::int4)::text`;
  // 2.00 is the integer 2, and 1.00 is true.
  if (from === 'numeric' && (to === 'int8' || to === 'boolean')) return `trim_scale(${value})::text`;
  if (from === 'float8' && (to === 'int8' || to === 'numeric')) return `trim_scale(${value}::text::numeric)::text`;
  if (from === 'timestamptz(3)' && to === 'date') return `to_char(${value} at time zone 'UTC', 'YYYY-MM-DD')`;
  if (from === 'timestamptz(3)' && to === 'time(3)') return `to_char(${value} at time zone 'UTC', 'HH24:MI:SS.MS')`;
  const json = jsonExpression(from, value);
  return json.endsWith('::text') || json.startsWith('to_char') ? json : `${value}::text`;
}

type Converted = Exclude<ScalarColumnType, 'text' | 'jsonb'>;

/**
 * The texts that each type accepts. PostgreSQL's input functions accept more (`now`, `infinity`, `NaN`): texts that are
 * not field values, or that give another value on each replay.
 */
const CONVERSIONS: {
  readonly [type in Converted]: { readonly name: string; readonly accepts: string; readonly condition?: string };
} = {
  float8: { name: '_to_number', accepts: '^[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]{1,4})?$' },
  int8: {
    name: '_to_integer',
    accepts: '^[+-]?[0-9]{1,19}$',
    condition: 'value::int8 between -9007199254740991 and 9007199254740991',
  },
  numeric: { name: '_to_decimal', accepts: '^[+-]?[0-9]+(\\.[0-9]+)?$', condition: 'length(value) <= 2000' },
  boolean: { name: '_to_boolean', accepts: '^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]|0|1)$' },
  date: { name: '_to_date', accepts: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' },
  'timestamptz(3)': {
    name: '_to_datetime',
    accepts:
      '^[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]{1,9})?)?([Zz]|[+-][0-9]{2}:?[0-9]{2})?)?$',
  },
  'time(3)': { name: '_to_time', accepts: '^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,3})?)?$' },
  uuid: { name: '_to_uuid', accepts: '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$' },
};

/**
 * Statements that create the conversion functions in a schema. The functions are total: any text gives a value or null.
 */
export function conversionFunctions(schema: string): readonly string[] {
  return Object.entries(CONVERSIONS).map(
    ([type, { name, accepts, condition = 'true' }]) =>
      `create function ${schema}.${quoteIdentifier(name)}(value text) returns ${type}
language plpgsql stable parallel safe
set timezone to 'UTC' set datestyle to 'ISO, YMD' as $body$
begin
  if value is null or value !~ '${accepts}' then return null; end if;
  if ${condition} then return value::${type}; end if;
  return null;
exception when data_exception then
  return null;
end $body$`,
  );
}
