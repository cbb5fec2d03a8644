import { ownValue } from '../own-value.ts';
import { isStorableText } from '../storable-text.ts';
import { parseField } from './content-type-field-parser.ts';
import { type RelationTarget, checkRelations } from './content-type-relations.ts';
import { checkRules } from './content-type-rules.ts';
import {
  type ContentTypeDefinition,
  type FieldDefinition,
  TRANSPORT_MODES,
  type TransportMode,
  type Transports,
} from './definition.ts';
import { keyOf } from './entry-fields.ts';
import { InvalidDefinition } from './invalid-definition.ts';
import { optionalBoolean, parseObject } from './parse-json.ts';
import { PRESET_NAMES } from './preset-names.ts';

/** Allowed names of content types. */
export const TYPE_NAME = /^[a-z][a-z0-9_]{0,62}$/;

/** What the parser needs besides the definition. */
export type ParseContentTypeOptions = {
  /** The name in the path. It takes precedence over the name in the body. */
  readonly name?: string | undefined;
  /** Fields whose ids are kept: the current ones, then the retained ones. */
  readonly earlierFields: readonly FieldDefinition[];
  /** The tenant's live content types, as targets of relations. */
  readonly types: readonly RelationTarget[];
  readonly newId: () => string;
};

const KEYS = [
  'name',
  'display_name',
  'fields',
  'with_created_at',
  'with_updated_at',
  'with_soft_delete',
  'with_draft_publish',
  'transports',
];
const TRANSPORT_NAMES = ['rest', 'graphql', 'grpc'] as const;
/** Names that a route uses in the path segment of the content type. */
const RESERVED_NAMES: readonly string[] = ['export', 'import', 'migrate', 'presets'];
/** PostgreSQL allows 1600 columns; the null bitmap and the system columns of a row need space too. */
const MAX_FIELDS = 500;

/**
 * Reads a content type definition as a client sends it.
 * @throws InvalidDefinition for the first invalid part
 */
export function parseContentType(input: unknown, options: ParseContentTypeOptions): ContentTypeDefinition {
  const body = parseObject(input, 'the definition', KEYS);
  const name = parseName(options.name ?? body['name']);
  const displayName = body['display_name'] ?? '';
  if (typeof displayName !== 'string' || displayName.length > 200)
    throw new InvalidDefinition('display_name must be a string of at most 200 characters');
  if (!isStorableText(displayName))
    throw new InvalidDefinition('display_name must not contain NUL or unpaired surrogate characters');
  const fields = parseFields(name, body['fields'] ?? [], options);
  const definition: ContentTypeDefinition = {
    name,
    display_name: displayName === '' ? name : displayName,
    fields: checkRelations(name, fields, options.types),
    with_created_at: optionalBoolean(body, 'with_created_at'),
    with_updated_at: optionalBoolean(body, 'with_updated_at'),
    with_soft_delete: optionalBoolean(body, 'with_soft_delete'),
    with_draft_publish: optionalBoolean(body, 'with_draft_publish'),
    ...parseTransports(body['transports']),
  };
  checkRules(definition);
  return definition;
}

/** @throws InvalidDefinition for a name that is not allowed, or that routes use */
export function parseName(name: unknown): string {
  if (name === undefined || name === null || name === '') throw new InvalidDefinition('name is required');
  if (typeof name !== 'string' || !TYPE_NAME.test(name)) {
    throw new InvalidDefinition('name must start with a letter and hold at most 63 lower-case letters, digits or _');
  }
  if (RESERVED_NAMES.includes(name)) throw new InvalidDefinition(`name "${name}" is reserved`);
  return name;
}

function parseFields(
  typeName: string,
  input: unknown,
  { earlierFields: known, newId }: ParseContentTypeOptions,
): readonly FieldDefinition[] {
  if (!Array.isArray(input)) throw new InvalidDefinition('fields must be a list');
  if (input.length > MAX_FIELDS) throw new InvalidDefinition(`fields must contain at most ${MAX_FIELDS} items`);
  const usedNames = new Set<string>();
  // A type may keep reserved names that it already has, for example after it was renamed.
  const allowedReservedNames = [...(ownValue(PRESET_NAMES, typeName) ?? []), ...known.map((field) => field.name)];
  return input.map((item: unknown) => {
    const parsed = parseField(item, allowedReservedNames);
    const field = { ...parsed, id: known.find(({ name }) => name === parsed.name)?.id ?? newId() };
    for (const key of new Set([field.name, keyOf(field)])) {
      if (usedNames.has(key)) throw new InvalidDefinition(`field "${key}" occurs twice`);
      usedNames.add(key);
    }
    return field;
  });
}

function parseTransports(input: unknown): { readonly transports?: Transports } {
  if (input === undefined || input === null) return {};
  if (typeof input !== 'object' || Array.isArray(input))
    throw new InvalidDefinition('transports must be an object', 'transport');
  const modes = Object.entries(input).map(([name, mode]: [string, unknown]) => {
    if (!TRANSPORT_NAMES.some((transport) => transport === name))
      throw new InvalidDefinition(`unknown transport "${name.slice(0, 80)}"`, 'transport');
    if (!isTransportMode(mode))
      throw new InvalidDefinition(`transport "${name}" must be one of ${TRANSPORT_MODES.join(', ')}`, 'transport');
    return [name, mode] as const;
  });
  return { transports: Object.fromEntries(modes) };
}

function isTransportMode(mode: unknown): mode is TransportMode {
  return TRANSPORT_MODES.some((transportMode) => transportMode === mode);
}
