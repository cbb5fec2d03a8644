import { refusal } from '../errors.ts';
import type { Json, JsonObject } from '../json.ts';
import { ownValue } from '../own-value.ts';
import { parseContentType } from './content-type-parser.ts';
import type { ContentTypeDefinition } from './definition.ts';
import { InvalidDefinition } from './invalid-definition.ts';
import { type JsonRecord, isRecord } from './parse-json.ts';
import { SLUG_PATTERN } from './patterns.ts';
import type { Preset } from './preset-events.ts';

const MAX_ID = 64;
const MAX_NAME = 200;
const MAX_DESCRIPTION = 2_000;
const MAX_SCHEMAS = 50;

/** Members of a document. The ones that responses add are ignored, so that a response can be saved again. */
const KEYS = ['id', 'name', 'description', 'schemas', 'source', 'updated_at', 'source_url'];

/**
 * Reads a preset document. The definitions are returned without empty and default members, so that the result is not
 * larger than the document.
 * @throws `preset_refused` with the reason for an invalid document; `preset_schema_refused` with the reason in `fields`
 *   for an invalid definition
 */
export function parsePreset(document: unknown): Preset {
  if (!isRecord(document)) throw presetRefusal('the document must be an object');
  const unknown = Object.keys(document).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) throw presetRefusal(`unknown field "${unknown.slice(0, 80)}"`);
  const id = textOf({ document, key: 'id', maxLength: MAX_ID });
  if (!SLUG_PATTERN.test(id)) throw presetRefusal('id must be a lower-case slug');
  return {
    id,
    name: textOf({ document, key: 'name', maxLength: MAX_NAME }),
    description: textOf({ document, key: 'description', maxLength: MAX_DESCRIPTION, absent: '' }),
    schemas: parseSchemas(document['schemas']),
  };
}

function textOf({
  document,
  key,
  maxLength,
  absent,
}: {
  readonly document: JsonRecord;
  readonly key: string;
  readonly maxLength: number;
  readonly absent?: string;
}): string {
  const value = ownValue(document, key) ?? absent;
  if (value === undefined || (value === '' && absent === undefined)) throw presetRefusal(`${key} is required`);
  if (typeof value !== 'string' || value.length > maxLength)
    throw presetRefusal(`${key} must be a string of at most ${maxLength} characters`);
  return value;
}

function parseSchemas(input: unknown): readonly JsonObject[] {
  if (!Array.isArray(input) || input.length === 0 || input.length > MAX_SCHEMAS)
    throw presetRefusal(`schemas must contain 1 to ${MAX_SCHEMAS} content types`);
  const items: readonly unknown[] = input;
  const before: ContentTypeDefinition[] = [];
  for (const [index, item] of items.entries()) before.push(parseSchema({ item, index, before, all: items }));
  return before.map(compact);
}

function parseSchema({
  item,
  index,
  before,
  all,
}: {
  readonly item: unknown;
  readonly index: number;
  readonly before: readonly ContentTypeDefinition[];
  readonly all: readonly unknown[];
}): ContentTypeDefinition {
  const name = isRecord(item) ? item['name'] : undefined;
  if (!isRecord(item) || typeof name !== 'string')
    throw presetRefusal(`schemas[${index}] must be a content type definition with a name`);
  const quoted = `schema "${name.slice(0, 80)}"`;
  if (before.some((other) => other.name === name)) throw presetRefusal(`${quoted} occurs twice`);
  const fields = item['fields'];
  if (!Array.isArray(fields) || fields.length === 0) throw presetRefusal(`${quoted} must have at least one field`);
  for (const field of fields) {
    const target = isRecord(field) ? field['relation_to'] : undefined;
    if (typeof target !== 'string' || target === name || before.some((other) => other.name === target)) continue;
    const later = all.some((other) => isRecord(other) && other['name'] === target);
    throw presetRefusal(
      `${quoted}: a relation must point at its own content type or one listed before it, "${target.slice(0, 80)}" is ${later ? 'listed after it' : 'not in the preset'}`,
    );
  }
  try {
    // Field ids are created when the preset is applied.
    return parseContentType(item, { earlierFields: [], newId: () => '', types: before });
  } catch (error) {
    if (!(error instanceof InvalidDefinition)) throw error;
    throw refusal('preset_schema_refused', { fields: [{ field: name.slice(0, 80), message: error.reason }] });
  }
}

/** A definition as a client would write it: without ids and without options that are off. */
function compact({ name, display_name, fields, ...options }: ContentTypeDefinition): JsonObject {
  return {
    name,
    ...(display_name === name ? {} : { display_name: display_name ?? name }),
    ...withoutOff(options),
    fields: fields.map(({ id: _id, ...field }) => withoutOff(field)),
  };
}

function withoutOff(members: { readonly [name: string]: Json | undefined }): JsonObject {
  const pairs: [string, Json][] = [];
  for (const [name, value] of Object.entries(members))
    if (value !== undefined && (value !== false || name === 'default')) pairs.push([name, value]);
  return Object.fromEntries(pairs);
}

function presetRefusal(message: string): Error {
  return refusal('preset_refused', { message });
}
